import { mayTurnVerificationOff } from '../core/accounts/links/verification.ts';
import { withBaseUrl } from '../core/keys/first-start.ts';
import type { Store } from '../db/store.ts';
import { ConfigError } from '../http/config/config-error.ts';
import type { Logger } from '../http/monitoring/log.ts';

/**
 * Logs at start which connections do not verify users. The start fails if such a connection's links could be opened
 * from other machines (threat L4).
 *
 * @param baseUrl the configured base URL, if this start can store it in the first environment; otherwise null
 * @throws ConfigError
 */
export async function checkVerification(
  { store, log }: { store: Pick<Store, 'read'>; log: Logger },
  baseUrl: string | null,
): Promise<void> {
  const [first, ...others] = await store.read.environments.list();
  if (!first) return;
  for (const environment of [baseUrl === null ? first : withBaseUrl(first, baseUrl), ...others]) {
    const connections = await store.read.connections.listAll(environment.id);
    const open = connections.filter(({ verificationMode }) => verificationMode === 'NONE').map(({ keyId }) => keyId);
    if (open.length === 0) continue;
    if (!mayTurnVerificationOff(environment)) {
      const where = `${environment.baseUrl} is not a development environment on loopback`;
      throw new ConfigError(
        `the connections ${open.join(', ')} do not verify users, but ${where}: set their verification_mode to REQUIRED`,
      );
    }
    log.warn(
      { environment: environment.id, connections: open },
      'these connections do not verify users: anyone who opens a link can connect an account for its user',
    );
  }
}
