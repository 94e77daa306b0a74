import { type Client, customFetch, refreshTokenGrantRequest } from 'oauth4webapi';
import type { Secret } from '../../secret.ts';
import { type ClientCredentials, clientAuthOf } from '../client-auth.ts';
import { sendCall } from '../http-call.ts';
import { outcomeOfProblem } from '../problem.ts';
import type { RefreshOutcome } from '../refresh-outcome.ts';
import { scopeParameter } from '../scopes.ts';
import type { TokenServer } from '../server.ts';
import { readTokenOutcome, tokenFetch } from '../token-request.ts';
import { CHECKED_ENDPOINTS, type ProtocolFetch } from '../transport.ts';

export interface RefreshTokenGrant {
  server: TokenServer;
  client: ClientCredentials;
  refreshToken: Secret;
  /** The granted scopes; sent only if the provider requires them. */
  scopes?: readonly string[];
  /** Restricted to the origin of the endpoint (`server.refresh.endpoint`), with a time limit. */
  fetch: ProtocolFetch;
  /** Milliseconds UTC. */
  now: () => number;
}

/**
 * Uses a refresh token to request new tokens (RFC 6749 §6). Scopes are usually not sent, so the grant keeps its scopes.
 *
 * @returns the outcome; expected failures are returned, not thrown
 * @throws errors that are bugs
 */
export async function refreshTokenGrant(grant: RefreshTokenGrant): Promise<RefreshOutcome> {
  const requestedAt = grant.now();
  try {
    return await readTokenOutcome(await request(grant), grant.server, requestedAt, grant.now());
  } catch (error) {
    return outcomeOfProblem(error);
  }
}

async function request({ server, client, refreshToken, scopes, fetch, now }: RefreshTokenGrant): Promise<Response> {
  const { endpoint, parameters, withScopes, call } = server.refresh;
  if (call) return sendCall(call.provider, call.recipe, { token: refreshToken, refreshToken, client }, fetch);
  const registered: Client = { client_id: client.clientId };
  const authentication = clientAuthOf(client, now, server.wire.basic);
  const scope = scopeParameter(withScopes ? (scopes ?? []) : [], server.scopeSeparator);
  return refreshTokenGrantRequest(server.metadata, registered, authentication, refreshToken.reveal(), {
    ...CHECKED_ENDPOINTS,
    additionalParameters: { ...server.extraParameters, ...parameters, ...scope },
    [customFetch]: tokenFetch(server, fetch, endpoint),
  });
}
