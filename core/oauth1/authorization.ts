import type { TokenFailure } from '../oauth/refresh-outcome.ts';
import type { ProtocolFetch } from '../oauth/transport.ts';
import { unusable } from './outcome.ts';
import { requestCredentials } from './request-credentials.ts';
import type { OAuth1Client, OAuth1Token, SigningRules } from './sign-request.ts';

/** A provider that supports OAuth 1.0a. */
export interface OAuth1Provider {
  /** The endpoint for temporary credentials (request token endpoint). */
  temporaryEndpoint: URL;
  /** The address of the consent page. */
  authorizeEndpoint: URL;
  /** The endpoint for token credentials (access token endpoint). */
  tokenEndpoint: URL;
  rules: SigningRules;
  /** Additional parameters of the consent page: scope, name of the application, lifetime of the token. */
  authorizeParameters: Readonly<Record<string, string>>;
}

/** The values that every step of an authorization needs. */
export interface Authorization {
  provider: OAuth1Provider;
  client: OAuth1Client;
  /** Restricted to the origins of the two credentials endpoints, with a time limit. */
  fetch: ProtocolFetch;
  /** Milliseconds UTC. */
  now: () => number;
  random: (size: number) => Buffer;
}

export type TemporaryCredentialsResult = { ok: true; temporary: OAuth1Token } | TokenFailure;

export type TokenCredentialsResult =
  | {
      ok: true;
      token: OAuth1Token;
      /** Milliseconds UTC; null if the provider does not return an expiry. */
      expiresAt: number | null;
      /** Further values of the response by name; they often identify the user. */
      others: Readonly<Record<string, string>>;
    }
  | TokenFailure;

/** Longer lifetimes are ignored, because they usually mean "never". */
const MAX_LIFE_S = 10 * 365 * 24 * 3600;

/**
 * Requests temporary credentials (RFC 5849 §2.1).
 *
 * The response must confirm the callback. A provider that does not confirm it uses OAuth 1.0 instead of 1.0a. OAuth 1.0
 * is vulnerable to session fixation: an attacker can make a victim complete the attacker's authorization.
 *
 * @param callback absolute address, different for each flow, because the protocol has no `state`
 */
export async function requestTemporaryCredentials(
  flow: Authorization,
  callback: URL,
): Promise<TemporaryCredentialsResult> {
  const { provider, ...signing } = flow;
  const outcome = await requestCredentials({
    ...signing,
    rules: provider.rules,
    token: null,
    step: 'temporary',
    endpoint: provider.temporaryEndpoint,
    protocol: { oauth_callback: callback.href },
  });
  if (!outcome.ok) return outcome;
  if (outcome.others['oauth_callback_confirmed'] !== 'true') {
    return unusable('The provider did not confirm the callback, as OAuth 1.0a requires.');
  }
  return { ok: true, temporary: outcome.token };
}

/**
 * Returns the address of the consent page (RFC 5849 §2.2). The token in the address is not secret; the token secret is
 * not part of it.
 */
export function authorizationUrl(provider: OAuth1Provider, temporary: OAuth1Token): URL {
  const url = new URL(provider.authorizeEndpoint);
  for (const [name, value] of Object.entries(provider.authorizeParameters)) url.searchParams.set(name, value);
  url.searchParams.set('oauth_token', temporary.token.reveal());
  return url;
}

/**
 * Exchanges temporary credentials and the verifier of the callback for token credentials (RFC 5849 §2.3). Temporary
 * credentials can be exchanged only once.
 */
export async function requestTokenCredentials(
  flow: Authorization,
  temporary: OAuth1Token,
  verifier: string,
): Promise<TokenCredentialsResult> {
  const { provider, ...signing } = flow;
  const requestedAt = flow.now();
  const outcome = await requestCredentials({
    ...signing,
    rules: provider.rules,
    token: temporary,
    step: 'token',
    endpoint: provider.tokenEndpoint,
    protocol: { oauth_verifier: verifier },
  });
  if (!outcome.ok) return outcome;
  const { token, others } = outcome;
  return { ok: true, token, others, expiresAt: expiryOf(others['oauth_expires_in'], requestedAt) };
}

/** Reads the lifetime of the token in seconds, for providers that return one (session extension). */
function expiryOf(text: string | undefined, requestedAt: number): number | null {
  if (text === undefined || !/^\d{1,12}$/.test(text)) return null;
  const seconds = Number(text);
  return seconds > 0 && seconds <= MAX_LIFE_S ? requestedAt + seconds * 1000 : null;
}
