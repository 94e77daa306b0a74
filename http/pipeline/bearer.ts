import { ApiError } from '../../core/errors.ts';
import { principalState } from '../../core/operators/principal.ts';
import type { Verification } from '../../core/tokens/access-token.ts';
import type { ReadRepositories } from '../../db/store.ts';
import type { Environment } from './environments.ts';
import type { Exchange } from './exchange.ts';

/** Verifies access tokens. */
export interface Authentication {
  verifyToken(token: string, environment: Environment): Verification;
  readonly store: { readonly read: Pick<ReadRepositories, 'apiClients' | 'operatorSessions'> };
  /** Milliseconds UTC. */
  now(): number;
}

const SCHEME = /^bearer +/i;

/**
 * Returns the token of an Authorization header (RFC 6750 §2.1); undefined if the scheme is not Bearer, or if there is
 * no token or more than one.
 */
export function bearerToken(header = ''): string | undefined {
  const [scheme = ''] = SCHEME.exec(header) ?? [];
  const token = header.slice(scheme.length);
  return scheme === '' || token === '' || token.includes(' ') ? undefined : token;
}

/**
 * Verifies the access token of a request and requires one scope. The client, or the session of the operator, is looked
 * up on every request, so disabling or ending it revokes its tokens immediately. Sets the client of the exchange.
 *
 * @returns true, as a security handler of openapi-backend does
 * @throws ApiError UNAUTHENTICATED, INSUFFICIENT_SCOPE
 */
export async function authenticate(exchange: Exchange, scope: string, parts: Authentication): Promise<true> {
  const { req, environment } = exchange;
  const token = bearerToken(req.headers.authorization);
  if (!token || !environment) {
    const detail = 'An access token is required: send the header Authorization: Bearer <token>.';
    const reason = req.headers.authorization === undefined ? 'no_token' : 'malformed';
    throw new ApiError('UNAUTHENTICATED', detail, { authFailure: { reason } });
  }
  const verified = parts.verifyToken(token, environment);
  if (!verified.ok) throw invalid(verified.reason, verified.clientId);
  const { clientId, environmentId, generation, scopes } = verified.token;
  if (environmentId !== environment.id) throw invalid('environment', clientId);
  const state = await principalState(parts.store.read, environment.id, clientId, parts.now());
  if (!state) throw invalid('client_unknown', clientId);
  if (!state.enabled) throw invalid('client_disabled', clientId);
  if (state.generation !== generation) throw invalid('revoked', clientId);
  if (!(scopes as readonly string[]).includes(scope)) {
    const authFailure = { reason: 'scope', clientId };
    const detail = `The operation requires the scope ${scope}. Request a token with it; the client must have it.`;
    throw new ApiError('INSUFFICIENT_SCOPE', detail, { scope, authFailure });
  }
  exchange.client = { clientId, scopes, actor: state.actor };
  return true;
}

function invalid(reason: string, clientId?: string): ApiError {
  const authFailure = { reason, ...(clientId !== undefined && { clientId }) };
  return new ApiError('UNAUTHENTICATED', 'The access token is invalid, expired or revoked. Request a new one.', {
    authFailure,
  });
}
