import type { Readiness } from '../core/capabilities/service.ts';
import { Secret } from '../core/secret.ts';
import { type Verification, verificationKeys } from '../core/tokens/access-token.ts';
import { VerifiedTokenCache } from '../core/tokens/verified-token-cache.ts';
import type { Vault } from '../core/vault/vault.ts';
import { createRequestLog } from '../http/monitoring/request-log.ts';
import { createEnvironmentLookup, type Environment } from '../http/pipeline/environments.ts';
import type { Exchange } from '../http/pipeline/exchange.ts';
import { createReplySpace, type ReplySpace } from '../http/pipeline/reply-space.ts';
import { readGenerated } from './generated-file.ts';
import type { Keys } from './keys.ts';
import type { Runtime } from './runtime.ts';
import type { Setup } from './setup.ts';
import type { Storage } from './storage.ts';

/** The parts that requests of every kind need. */
export interface RequestParts {
  /** @throws ApiError UNKNOWN_HOST */
  environmentOf(hostHeader: string | undefined): Environment | Promise<Environment>;
  verifyToken(token: string, environment: Environment): Verification;
  readiness(): Promise<Readiness>;
  /** Makes `/readyz` report that the server is not ready, so that load balancers stop sending requests to it. */
  announceEnd(): void;
  /** Called for every response that was written. */
  onResponse(exchange: Exchange, status: number): void;
  /** Limits the space of the responses that each client has stored for idempotency keys. */
  readonly replySpace: ReplySpace;
  /** The places of secrets in the contract, such as `createApiClient 201 $.client_secret`. */
  readonly secretPaths: readonly string[];
}

type Deps = Pick<Runtime, 'now' | 'log' | 'metrics'> & Pick<Storage, 'store'> & Pick<Keys, 'vault' | 'signingKeys'>;

const PROBE = new Secret('probe');

export function createRequestParts({ choose }: Pick<Setup, 'choose'>, deps: Deps): RequestParts {
  const { now, log, metrics, store, vault, signingKeys } = deps;
  const tokens = new VerifiedTokenCache();
  const verifiers = verificationKeys(signingKeys);
  const logRequest = createRequestLog(log, now);
  let isEnding = false;
  return {
    environmentOf: choose('environmentOf', () => createEnvironmentLookup(store, now)),
    verifyToken: (token, { baseUrl }) => tokens.verify(token, verifiers, { issuer: baseUrl, audience: baseUrl }, now()),
    readiness: choose('readiness', () => async () => {
      return { database: await store.healthy(), keys: canSeal(vault), ending: isEnding };
    }),
    announceEnd() {
      isEnding = true;
    },
    onResponse: choose('onResponse', () => (exchange, status) => {
      const ms = performance.now() - exchange.startedAt;
      metrics.request(exchange.name, status, ms / 1000);
      logRequest(exchange.name, status, ms, exchange.requestId, exchange.authFailure);
    }),
    replySpace: createReplySpace(),
    secretPaths: JSON.parse(readGenerated('secret-paths.json')) as string[],
  };
}

function canSeal(vault: Vault): boolean {
  try {
    vault.sealValue({ table: 'readiness', environmentId: '', recordId: 'probe', field: 'probe' }, PROBE);
    return true;
  } catch {
    return false;
  }
}
