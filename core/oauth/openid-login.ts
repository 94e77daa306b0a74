import type { KeptAuthorization } from './authorization-request.ts';
import { beginAuthorization } from './begin-authorization.ts';
import type { ClientCredentials } from './client-auth.ts';
import type { Discovery } from './discovery.ts';
import { finishAuthorization } from './grants/authorization-code.ts';
import { verifyIdToken } from './id-token.ts';
import type { OAuthProvider } from './provider.ts';
import { type FetchFor, isTransportFailure, restrictedToTarget } from './transport.ts';

/** A client that is registered at an OpenID provider. */
export interface OpenIdClient {
  /** Compared as text with the issuer of the metadata and of the tokens. */
  issuer: string;
  client: ClientCredentials;
  scopes: readonly string[];
}

export interface OpenIdDeps {
  discovery: Discovery;
  /** Only requests with the same partition share cached metadata. */
  partition: string;
  fetchFor: FetchFor;
  /** Milliseconds UTC. */
  now(): number;
  random(size: number): Buffer;
}

/** The provider cannot be used, or denied the login. The message for API clients contains no text of the provider. */
export interface OpenIdFailure {
  ok: false;
  /** Whether the user or the provider denied the login. */
  denied: boolean;
  message: string;
}

/**
 * Starts a login at an OpenID provider, with PKCE, state and nonce (OpenID Connect Core §3.1.2.1, RFC 7636).
 *
 * @param redirectUri the address that the browser returns to, exactly as registered
 * @returns `url`: the address to redirect the browser to. `kept`: an argument of `finishOpenIdLogin`; store it
 * encrypted and bound to the browser
 */
export async function beginOpenIdLogin(
  deps: OpenIdDeps,
  { issuer, client, scopes }: OpenIdClient,
  redirectUri: string,
): Promise<{ ok: true; url: string; kept: KeptAuthorization } | OpenIdFailure> {
  const found = await providerOf(deps, issuer);
  if (!found.ok) return found;
  const { fetchFor, now, random } = deps;
  const begun = await beginAuthorization({
    provider: found.oauth,
    client,
    redirectUri,
    scopes,
    fetchFor,
    now: () => now(),
    random: (size) => random(size),
  });
  return begun.ok ? begun : failed(begun.message);
}

/**
 * Finishes a login: redeems the code at the same provider and verifies the id_token (OpenID Connect Core §3.1.3.7).
 *
 * @param kept as returned by `beginOpenIdLogin` for the same client; it must not be used again
 * @param answer the query of the callback
 */
export async function finishOpenIdLogin(
  deps: OpenIdDeps,
  { issuer, client }: OpenIdClient,
  kept: KeptAuthorization,
  answer: URLSearchParams,
): Promise<{ ok: true; claims: Readonly<Record<string, unknown>> } | OpenIdFailure> {
  const found = await providerOf(deps, issuer);
  if (!found.ok) return found;
  const { fetchFor } = deps;
  const now = () => deps.now();
  const { oauth } = found;
  const finished = await finishAuthorization({ provider: oauth, client, parameters: answer, kept, fetchFor, now });
  if (!finished.ok) return { ok: false, denied: finished.kind === 'denied', message: finished.message };
  const { id_token: idToken } = JSON.parse(finished.answer.reveal()) as { id_token?: unknown };
  const { metadata } = oauth;
  if (typeof idToken !== 'string' || !metadata) return failed('The login provider sent no id_token.');
  try {
    const { clientId, nonce } = kept;
    const verified = await verifyIdToken({
      idToken,
      metadata,
      clientId,
      nonce,
      fetch: restrictedToTarget(fetchFor),
      now,
    });
    return verified.ok ? verified : failed(verified.message);
  } catch (error) {
    if (isTransportFailure(error)) return failed(error.message);
    throw error;
  }
}

async function providerOf(
  { discovery, partition, fetchFor }: OpenIdDeps,
  issuer: string,
): Promise<{ ok: true; oauth: OAuthProvider } | OpenIdFailure> {
  const found = await discovery.discover({ issuer, partition, fetchFor });
  if (!found.ok) return failed(found.message);
  const { metadata } = found;
  const oauth: OAuthProvider = {
    config: {
      authorize_uri: metadata.authorization_endpoint,
      token_uri: metadata.token_endpoint,
      // Makes `beginAuthorization` send a nonce, which binds the id_token to this login.
      identity: { subject: ['/id_token/sub'] },
    },
    metadata,
    inputs: {},
    address: (template) => template,
    tokenHeader: { name: 'Authorization', scheme: 'Bearer' },
  };
  return { ok: true, oauth };
}

function failed(message: string): OpenIdFailure {
  return { ok: false, denied: false, message };
}
