import { authorizationCodeGrantRequest, customFetch, nopkce } from 'oauth4webapi';
import type { Secret } from '../../secret.ts';
import { type FlowDocument, readAccountValues } from '../account-values.ts';
import type { KeptAuthorization } from '../authorization-request.ts';
import { authorizationEndpointOf } from '../authorization-server.ts';
import { type CallbackFailure, readCallback } from '../callback.ts';
import { type ClientCredentials, clientAuthOf } from '../client-auth.ts';
import { outcomeOfProblem } from '../problem.ts';
import { issuerOf, type OAuthProvider, withInputs } from '../provider.ts';
import type { TokenFailure, TokenOutcome } from '../refresh-outcome.ts';
import { tokenServerAt } from '../server.ts';
import { readTokenOutcome, tokenFetch } from '../token-request.ts';
import type { TokenSet } from '../token-response.ts';
import { CHECKED_ENDPOINTS, type FetchFor, restrictedToTarget } from '../transport.ts';
import { exchangeToken } from './long-lived-exchange.ts';

export interface AuthorizationEnd {
  provider: OAuthProvider;
  client: ClientCredentials;
  /** The query of the callback. */
  parameters: URLSearchParams;
  kept: KeptAuthorization;
  fetchFor: FetchFor;
  /** Milliseconds UTC. */
  now: () => number;
}

/** The result of a successful authorization. */
export interface Granted {
  ok: true;
  tokens: TokenSet & { scopes: string[] };
  /** The token response as JSON, from which `readAccountFacts` reads the identity of the account. */
  answer: Secret;
  /** The account values in the callback that the connector file declares. */
  values: Record<string, string>;
}

export type Finished =
  | Granted
  | CallbackFailure
  /** The connection or the provider was changed while the user was at the provider. */
  | { ok: false; kind: 'changed'; message: string }
  /** An account value that the connector file reads from the callback is missing or invalid. */
  | { ok: false; kind: 'callback_value'; message: string }
  | { ok: false; kind: 'code_rejected'; message: string }
  | Exclude<TokenFailure, { kind: 'refused' }>;

/**
 * Finishes an authorization: validates the callback, and redeems its code at the authorization server of the request
 * with the PKCE verifier of the request (RFC 6749 §4.1.3, RFC 7636 §4.5, RFC 9207). If the connector file has an
 * `exchange` call, the token is then exchanged for a long-lived one. The code is sent once; `kept` must not be used
 * again, even after a failure.
 *
 * @returns the tokens and their details, or the failure; messages for API clients contain no text of the provider
 */
export async function finishAuthorization(end: AuthorizationEnd): Promise<Finished> {
  const { client, parameters, kept, fetchFor, now } = end;
  try {
    const endpoint = authorizationEndpointOf(end.provider);
    if (hasChanged(end)) return CHANGED;
    const callback = readCallback(parameters, kept, endpoint);
    if (!callback.ok) return callback;
    const document: FlowDocument = { callback: firstOfEach(parameters) };
    const read = readAccountValues(end.provider.config.account_values ?? [], ['callback'], document);
    if (!read.ok) return { ok: false, kind: 'callback_value', message: read.message };
    const provider = withInputs(end.provider, read.values);
    const server = tokenServerAt(provider);
    const fetch = restrictedToTarget(fetchFor);
    const requestedAt = now();
    const response = await authorizationCodeGrantRequest(
      server.metadata,
      { client_id: client.clientId },
      clientAuthOf(client, now, server.wire.basic),
      callback.response,
      kept.redirectUri,
      kept.codeVerifier ?? nopkce,
      { ...CHECKED_ENDPOINTS, additionalParameters: server.extraParameters, [customFetch]: tokenFetch(server, fetch) },
    );
    const outcome = await readTokenOutcome(response, server, requestedAt, now());
    const lasting = outcome.ok ? await exchangeToken({ provider, server, client, outcome, fetch, now }) : outcome;
    return granted(lasting, kept, read.values);
  } catch (error) {
    return withoutRefusal(outcomeOfProblem(error));
  }
}

const CHANGED = {
  ok: false,
  kind: 'changed',
  message: "The OAuth client or the provider's endpoints were changed during authorization. Start again.",
} as const;

/**
 * Whether the server or the client has changed since the request. A code must not be sent to another server or with
 * another client (threats L9, L10).
 */
function hasChanged({ provider, client, kept }: AuthorizationEnd): boolean {
  const { tokenEndpoint } = tokenServerAt(provider);
  const issuer = issuerOf(provider) ?? null;
  return tokenEndpoint.href !== kept.tokenEndpoint || issuer !== kept.issuer || client.clientId !== kept.clientId;
}

function granted(outcome: TokenOutcome, kept: KeptAuthorization, values: Record<string, string>): Finished {
  if (!outcome.ok) return withoutRefusal(outcome);
  // If the response does not name the granted scopes, the requested scopes were granted (RFC 6749 §5.1).
  const tokens = { ...outcome.tokens, scopes: outcome.tokens.scopes ?? kept.scopes };
  return { ok: true, tokens, answer: outcome.answer, values };
}

function withoutRefusal(failure: TokenFailure): Finished {
  if (failure.kind !== 'refused') return failure;
  return { ok: false, kind: 'code_rejected', message: 'The provider rejected the authorization code. Start again.' };
}

function firstOfEach(parameters: URLSearchParams): Record<string, string> {
  return Object.fromEntries([...parameters].toReversed());
}
