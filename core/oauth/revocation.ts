import { customFetch, revocationRequest } from 'oauth4webapi';
import type { RevocationMethod, TokenKind } from '../connectors/oauth-deviations.ts';
import type { Secret } from '../secret.ts';
import { type CallFailure, type CallOutcome, callProblem, readCallOutcome } from './call-outcome.ts';
import { type ClientCredentials, clientAuthOf } from './client-auth.ts';
import { fillTexts } from './fill.ts';
import { sendCall } from './http-call.ts';
import { assertionAudienceOf, endpointAt, type OAuthProvider } from './provider.ts';
import { CHECKED_ENDPOINTS, type ProtocolFetch } from './transport.ts';

export interface Revocation {
  provider: OAuthProvider;
  client: ClientCredentials;
  accessToken: Secret | null;
  refreshToken: Secret | null;
  /** Restricted to the origins that the credentials are bound to. */
  fetch: ProtocolFetch;
  /** Milliseconds UTC. */
  now: () => number;
}

/**
 * The result of a revocation at the provider. Messages are shown to API clients. `not_revocable`: the provider does not
 * support it. `retry_later`: there is no conclusive response, so the revocation must be retried. `failed`: a retry
 * would not help.
 */
export type RevocationOutcome =
  | { kind: 'revoked' }
  | { kind: 'not_revocable' }
  | { kind: 'retry_later'; retryAfterMs?: number; message: string }
  | { kind: 'failed'; message: string };

/**
 * Revoking the refresh token ends the whole grant at most servers. The access token is revoked afterwards, in case it
 * is still valid.
 */
const ORDER: readonly TokenKind[] = ['refresh_token', 'access_token'];

/**
 * Revokes the tokens of an account at its provider, the refresh token first, by RFC 7009 or a call from the connector
 * file. It is safe to repeat: a token that is already invalid counts as revoked. Without a token to revoke, the result
 * is `revoked`.
 */
export async function revokeTokens(revocation: Revocation): Promise<RevocationOutcome> {
  const { config } = revocation.provider;
  const way = config.revocation ?? {};
  if (way.supported === false || (way.call === undefined && config.revocation_uri === undefined)) {
    return { kind: 'not_revocable' };
  }
  const tokens = tokensOf(revocation, way);
  if (tokens.length === 0) return { kind: 'revoked' };
  const outcomes: RevocationOutcome[] = [];
  for (const [kind, token] of tokens) outcomes.push(await revokeOne(revocation, way, kind, token));
  return together(outcomes);
}

function tokensOf({ accessToken, refreshToken }: Revocation, way: RevocationMethod): [TokenKind, Secret][] {
  const wanted: readonly TokenKind[] = way.tokens ?? ORDER;
  const held = { access_token: accessToken, refresh_token: refreshToken };
  return ORDER.filter((kind) => wanted.includes(kind)).flatMap((kind) => {
    const token = held[kind];
    return token === null ? [] : [[kind, token] as [TokenKind, Secret]];
  });
}

async function revokeOne(
  revocation: Revocation,
  way: RevocationMethod,
  kind: TokenKind,
  token: Secret,
): Promise<RevocationOutcome> {
  try {
    const response = await request(revocation, way, kind, token);
    return verdict(await readCallOutcome(response, way.errors ?? STANDARD_ERRORS, revocation.now()), way);
  } catch (error) {
    return verdict(callProblem(error), way);
  }
}

const STANDARD_ERRORS = { code: '/error' };

function request(revocation: Revocation, way: RevocationMethod, kind: TokenKind, token: Secret): Promise<Response> {
  const { provider, client, accessToken, refreshToken, fetch } = revocation;
  if (way.call === undefined) return standardRequest(revocation, kind, token);
  const credentials = { token, accessToken: accessToken ?? undefined, refreshToken, client };
  return sendCall(provider, way.call, credentials, fetch);
}

/** RFC 7009 §2.1; the client authenticates as at the token endpoint. */
function standardRequest({ provider, client, fetch, now }: Revocation, kind: TokenKind, token: Secret) {
  const { config } = provider;
  const endpoint = endpointAt(provider, config.revocation_uri ?? '', config.token?.origin_from);
  const issuer = assertionAudienceOf(provider, endpoint);
  const vendorHeaders = fillTexts(config.token?.headers, provider.inputs);
  return revocationRequest(
    { issuer, revocation_endpoint: endpoint.href },
    { client_id: client.clientId },
    clientAuthOf(client, now, config.token?.basic),
    token.reveal(),
    {
      additionalParameters: { token_type_hint: kind },
      ...CHECKED_ENDPOINTS,
      [customFetch]: (_url, { headers: { 'user-agent': _theLibrary, ...headers }, ...options }) =>
        fetch(endpoint, { ...options, headers: { ...headers, ...vendorHeaders } }),
    },
  );
}

function verdict(outcome: CallOutcome, way: RevocationMethod): RevocationOutcome {
  if (outcome.ok || isGone(outcome, way)) return { kind: 'revoked' };
  if (outcome.kind !== 'unavailable' || outcome.reason === 'blocked')
    return { kind: 'failed', message: outcome.message };
  const { retryAfterMs, message } = outcome;
  return { kind: 'retry_later', ...(retryAfterMs !== undefined && { retryAfterMs }), message };
}

/**
 * Error codes of providers for a token that is already invalid. RFC 7009 §2.2 requires 200 for it, but some providers
 * return an error.
 */
const GONE: ReadonlySet<string> = new Set([
  'expired_token',
  'invalid_grant',
  'invalid_refresh_token',
  'invalid_token',
  'refresh_token_expired',
  'token_expired',
  'token_revoked',
]);

function isGone(failure: CallFailure, { call, gone_statuses: gone = [] }: RevocationMethod): boolean {
  if (failure.kind !== 'refused' && failure.kind !== 'unexpected') return false;
  if (gone.includes(failure.status)) return true;
  if (failure.kind === 'unexpected') return false;
  // If the token itself authenticates the call, a 401 means that it is no longer valid.
  const isShown = call !== undefined && (call.auth ?? 'token') === 'token';
  return GONE.has(failure.code) || (isShown && failure.status === 401);
}

/**
 * Combines the outcomes. A `retry_later` takes precedence. Otherwise the first outcome is returned, which is that of
 * the refresh token if there are several: revoking the refresh token usually ends the grant, even if revoking the
 * access token failed.
 */
function together(outcomes: readonly RevocationOutcome[]): RevocationOutcome {
  const waiting = outcomes.find(({ kind }) => kind === 'retry_later');
  return waiting ?? outcomes[0] ?? { kind: 'revoked' };
}
