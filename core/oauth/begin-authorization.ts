import { readsFrom } from './account-values.ts';
import {
  authorizationParameters,
  authorizationUrl,
  type KeptAuthorization,
  providerParameters,
  randomText,
} from './authorization-request.ts';
import { type AuthorizationEndpoint, authorizationEndpointOf } from './authorization-server.ts';
import type { ClientCredentials } from './client-auth.ts';
import { outcomeOfProblem } from './problem.ts';
import type { OAuthProvider } from './provider.ts';
import { pushRequest } from './pushed-request.ts';
import type { TokenFailure } from './refresh-outcome.ts';
import { joinScopes } from './scopes.ts';
import { type TokenServer, tokenServerAt } from './server.ts';
import type { FetchFor } from './transport.ts';

export interface AuthorizationStart {
  provider: OAuthProvider;
  client: ClientCredentials;
  /** The address that the browser returns to, exactly as registered. */
  redirectUri: string;
  scopes: readonly string[];
  fetchFor: FetchFor;
  /** Milliseconds UTC. */
  now: () => number;
  random: (size: number) => Buffer;
}

export type StartedAuthorization = { ok: true; url: string; kept: KeptAuthorization } | TokenFailure;

/**
 * Starts an authorization: builds the address that the browser is redirected to, with a new state and PKCE verifier
 * (RFC 6749 §4.1.1, RFC 7636 §4). If the provider uses pushed authorization requests (RFC 9126), the parameters are
 * first sent to the provider, and the address only refers to them.
 *
 * @returns the address, and the data to store encrypted until the browser returns; or why the authorization cannot be
 * started
 */
export async function beginAuthorization(start: AuthorizationStart): Promise<StartedAuthorization> {
  const { provider, client, random } = start;
  try {
    const endpoint = authorizationEndpointOf(provider);
    const server = tokenServerAt(provider);
    const kept: KeptAuthorization = {
      state: randomText(random),
      codeVerifier: endpoint.pkce === 'none' ? null : randomText(random),
      // A nonce binds the id_token to this request. It is only needed if something is read from the id_token.
      nonce: readsFrom(provider.config, 'id_token') ? randomText(random) : null,
      redirectUri: start.redirectUri,
      scopes: [...new Set(start.scopes)],
      clientId: client.clientId,
      issuer: endpoint.issuer,
      issuerIsSent: endpoint.issuerIsSent,
      tokenEndpoint: server.tokenEndpoint.href,
    };
    const parameters = providerParameters(endpoint, await authorizationParameters(endpoint, kept));
    if (endpoint.pushedTo === null) return { ok: true, url: authorizationUrl(endpoint, parameters), kept };
    return await pushed(start, endpoint, endpoint.pushedTo, server, parameters, kept);
  } catch (error) {
    return outcomeOfProblem(error);
  }
}

async function pushed(
  { client, fetchFor, now }: AuthorizationStart,
  endpoint: AuthorizationEndpoint,
  pushedTo: URL,
  server: TokenServer,
  parameters: readonly [string, string | string[]][],
  kept: KeptAuthorization,
): Promise<StartedAuthorization> {
  const texts = parameters.map(([name, value]): [string, string] => [
    name,
    Array.isArray(value) ? joinScopes(value, endpoint.scopeSeparator) : value,
  ]);
  const fetch = await fetchFor([pushedTo.origin]);
  const answer = await pushRequest({ endpoint: pushedTo, server, client, parameters: texts, fetch, now });
  if (!answer.ok) return answer;
  const reference: [string, string][] = [
    [endpoint.names['client_id'] ?? 'client_id', client.clientId],
    ['request_uri', answer.requestUri],
  ];
  return { ok: true, url: authorizationUrl(endpoint, reference), kept };
}
