import type { ClientCredentials } from '../client-auth.ts';
import { sendCall } from '../http-call.ts';
import type { OAuthProvider } from '../provider.ts';
import type { TokenOutcome } from '../refresh-outcome.ts';
import type { TokenServer } from '../server.ts';
import { readTokenOutcome } from '../token-request.ts';
import type { ProtocolFetch } from '../transport.ts';

export interface Exchange {
  provider: OAuthProvider;
  server: TokenServer;
  client: ClientCredentials;
  /** The tokens from the authorization code. */
  outcome: TokenOutcome & { ok: true };
  fetch: ProtocolFetch;
  /** Milliseconds UTC. */
  now: () => number;
}

/**
 * Exchanges a short-lived access token for a long-lived one, if the connector file has an `exchange` call. Otherwise
 * returns the given outcome.
 *
 * @returns the long-lived tokens, or the failure; `answer` remains the first response, because it contains the
 * account's details
 */
export async function exchangeToken({
  provider,
  server,
  client,
  outcome,
  fetch,
  now,
}: Exchange): Promise<TokenOutcome> {
  const recipe = provider.config.exchange;
  if (recipe === undefined) return outcome;
  const { accessToken, refreshToken, scopes } = outcome.tokens;
  const requestedAt = now();
  const response = await sendCall(provider, recipe, { token: accessToken, accessToken, refreshToken, client }, fetch);
  const lasting = await readTokenOutcome(response, server, requestedAt, now());
  if (!lasting.ok) return lasting;
  return { ok: true, tokens: { ...lasting.tokens, scopes: lasting.tokens.scopes ?? scopes }, answer: outcome.answer };
}
