import { clientCredentialsGrantRequest, customFetch } from 'oauth4webapi';
import { type ClientCredentials, clientAuthOf } from '../client-auth.ts';
import { outcomeOfProblem } from '../problem.ts';
import type { OAuthProvider } from '../provider.ts';
import { clientRefused, type TokenFailure, type TokenOutcome } from '../refresh-outcome.ts';
import { scopeParameter } from '../scopes.ts';
import { tokenServerAt } from '../server.ts';
import { readTokenOutcome, tokenFetch } from '../token-request.ts';
import { CHECKED_ENDPOINTS, type FetchFor, restrictedToTarget } from '../transport.ts';

export interface ClientCredentialsGrant {
  provider: OAuthProvider;
  client: ClientCredentials;
  /** Empty to request the default scopes of the client. */
  scopes: readonly string[];
  fetchFor: FetchFor;
  /** Milliseconds UTC. */
  now: () => number;
}

/**
 * Requests a token for the client itself (RFC 6749 §4.4). Audience and resource come from the provider's OAuth
 * configuration. A refresh token in the response is ignored: the client can request a new access token at any time
 * (§4.4.3).
 *
 * @returns the outcome; expected failures are returned, not thrown. It is never `refused`, because this flow has no
 * grant that could end
 */
export async function clientCredentialsGrant(grant: ClientCredentialsGrant): Promise<TokenOutcome> {
  const { provider, client, scopes, fetchFor, now } = grant;
  try {
    const server = tokenServerAt(provider);
    const requestedAt = now();
    const response = await clientCredentialsGrantRequest(
      server.metadata,
      { client_id: client.clientId },
      clientAuthOf(client, now, server.wire.basic),
      { ...server.extraParameters, ...scopeParameter(scopes, server.scopeSeparator) },
      { ...CHECKED_ENDPOINTS, [customFetch]: tokenFetch(server, restrictedToTarget(fetchFor)) },
    );
    const outcome = await readTokenOutcome(response, server, requestedAt, now());
    return outcome.ok ? { ...outcome, tokens: { ...outcome.tokens, refreshToken: null } } : ofClient(outcome);
  } catch (error) {
    return outcomeOfProblem(error);
  }
}

function ofClient(failure: TokenFailure): TokenFailure {
  if (failure.kind !== 'refused') return failure;
  return clientRefused('The provider does not issue tokens to this client.');
}
