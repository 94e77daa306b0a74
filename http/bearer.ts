import type { IncomingMessage } from 'node:http';
import { ApiError } from '../core/errors.ts';
import type { Deps } from './deps.ts';
import type { Exchange, Principal } from './exchange.ts';

const SCHEME = /^bearer +/i;

/** The token of an Authorization header (RFC 6750 §2.1); undefined where there is none, or more than one. */
export function bearerToken(header = ''): string | undefined {
  const [scheme = ''] = SCHEME.exec(header) ?? [];
  const token = header.slice(scheme.length);
  return scheme === '' || token === '' || token.includes(' ') ? undefined : token;
}

/**
 * Verifies the access token of a request and demands one scope. The client is looked up on every request, so a disabled client
 * ends at once, whatever its tokens say.
 *
 * @throws ApiError UNAUTHENTICATED, INSUFFICIENT_SCOPE
 */
export async function authenticate(
  req: IncomingMessage,
  scope: string,
  exchange: Exchange,
  deps: Deps,
): Promise<Principal> {
  const token = bearerToken(req.headers.authorization);
  const environment = exchange.environment;
  if (!token || !environment) throw unauthenticated('An access token is required in the Authorization header.');
  const verified = deps.verifyToken(token, environment);
  if (!verified.ok) throw unauthenticated('The access token is not valid.');
  const { clientId, environmentId, generation, scopes } = verified.token;
  if (environmentId !== environment.id) throw unauthenticated('The access token is not valid.');
  const state = await deps.store.read.apiClients.state(environment.id, clientId);
  if (!state?.enabled || state.generation !== generation) throw unauthenticated('The access token is not valid.');
  if (!(scopes as readonly string[]).includes(scope))
    throw new ApiError('INSUFFICIENT_SCOPE', `The operation needs the scope ${scope}.`);
  return { clientId, scopes };
}

function unauthenticated(detail: string): ApiError {
  return new ApiError('UNAUTHENTICATED', detail);
}
