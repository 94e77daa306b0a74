import type { AuthorizationClient } from '../core/accounts/links/authorization-client.ts';
import { authorizationClients } from '../core/accounts/links/authorization-clients.ts';
import type { ExpireTools } from '../core/accounts/links/expire.ts';
import { createOAuthClient } from '../core/accounts/links/oauth-client.ts';
import { createOAuth1Client } from '../core/accounts/links/oauth1-client.ts';
import { mayTurnVerificationOff } from '../core/accounts/links/verification.ts';
import { readyForConsent } from '../core/mcp/upstream/authorization.ts';
import type { Discovery } from '../core/oauth/discovery.ts';
import type { Store } from '../db/store.ts';
import { ConfigError } from './config.ts';
import type { Deps } from './deps.ts';
import type { Logger } from './log.ts';
import { createPinnedFetch } from './pinned-fetch.ts';

export type LinkParts = ExpireTools &
  Pick<Deps, 'random' | 'egressOf' | 'events'> & { log: Logger; discovery: Discovery };

/** Wires what links need: the protocols by which users grant access. */
export function createLinks(parts: LinkParts): Pick<Deps, 'authorization' | 'readyForConsent'> {
  const { store, vault, now, random, log } = parts;
  const tools = { store, vault, now, random, fetchFor: createPinnedFetch(parts), log };
  const { discovery } = parts;
  const authorization: AuthorizationClient = authorizationClients({
    oauth2: createOAuthClient({ ...tools, discovery }),
    oauth1: createOAuth1Client(tools),
  });

  return {
    authorization,
    readyForConsent: (link) => readyForConsent({ ...parts, ...tools }, link),
  };
}

/**
 * Logs at start which connections do not verify users, and does not start if anyone but the developer could open their links
 * (threat L4).
 *
 * @throws ConfigError
 */
export async function judgeVerification(store: Pick<Store, 'read'>, log: Logger): Promise<void> {
  for (const environment of await store.read.environments.list()) {
    const connections = await store.read.connections.listAll(environment.id);
    const open = connections.filter(({ verificationMode }) => verificationMode === 'NONE').map(({ keyId }) => keyId);
    if (open.length === 0) continue;
    if (!mayTurnVerificationOff(environment)) {
      const where = `${environment.baseUrl} can be reached from elsewhere`;
      throw new ConfigError(`verification is off for ${open.join(', ')}, but ${where}: set verification_mode REQUIRED`);
    }
    log.warn({ environment: environment.id, connections: open }, 'these connections do not verify users');
  }
}
