import { readsFrom } from './account-values.ts';
import {
  authorizationParameters,
  authorizationUrl,
  inTermsOf,
  type KeptAuthorization,
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
  /** Where the browser comes back to, exactly as it is registered. */
  redirectUri: string;
  scopes: readonly string[];
  fetchFor: FetchFor;
  /** Milliseconds UTC. */
  now: () => number;
  random: (size: number) => Buffer;
}

export type Begun = { ok: true; url: string; kept: KeptAuthorization } | TokenFailure;

/**
 * Begins an authorization: makes the address that the browser is sent to, with a fresh state and proof key (RFC 6749 §4.1.1,
 * RFC 7636 §4, RFC 9126).
 *
 * @returns the address, and what is to be kept sealed until the browser comes back; or why none can be made
 */
export async function beginAuthorization(start: AuthorizationStart): Promise<Begun> {
  const { provider, client, random } = start;
  try {
    const endpoint = authorizationEndpointOf(provider);
    const server = tokenServerAt(provider);
    const kept: KeptAuthorization = {
      state: randomText(random),
      codeVerifier: endpoint.pkce === 'none' ? null : randomText(random),
      // Only where something is read from the id_token: it makes sure that the token belongs to this request.
      nonce: readsFrom(provider.config, 'id_token') ? randomText(random) : null,
      redirectUri: start.redirectUri,
      scopes: [...new Set(start.scopes)],
      clientId: client.clientId,
      issuer: endpoint.issuer,
      issuerIsSent: endpoint.issuerIsSent,
      tokenEndpoint: server.tokenEndpoint.href,
    };
    const parameters = inTermsOf(endpoint, await authorizationParameters(endpoint, kept));
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
): Promise<Begun> {
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
