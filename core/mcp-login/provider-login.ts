import type { EnvironmentId, EnvironmentRow, LoginProviderRow, LoginSubject } from '../../db/store.ts';
import type { KeptAuthorization } from '../oauth/authorization-request.ts';
import { beginAuthorization } from '../oauth/begin-authorization.ts';
import type { ClientCredentials } from '../oauth/client-auth.ts';
import type { Discovery } from '../oauth/discovery.ts';
import { finishAuthorization, type Granted } from '../oauth/grants/authorization-code.ts';
import { verifyIdToken } from '../oauth/id-token.ts';
import type { OAuthProvider } from '../oauth/provider.ts';
import { isTransportFailure, type ProtocolFetch, pinnedToTarget } from '../oauth/transport.ts';
import type { SealedTokens } from '../vault/sealed-token.ts';
import type { Vault } from '../vault/vault.ts';
import { providerCallbackUrl } from './addresses.ts';
import { identify } from './identity.ts';
import { openLoginSecret } from './login-provider.ts';

export interface ProviderLoginTools {
  vault: Vault;
  discovery: Discovery;
  /** Encrypts what is kept while the user is at the provider. */
  sealedData: SealedTokens;
  fetchFor(environmentId: EnvironmentId, origins: readonly string[]): ProtocolFetch | Promise<ProtocolFetch>;
  /** Milliseconds UTC. */
  now(): number;
  random(size: number): Buffer;
}

/** The provider cannot be used. The message is a fixed public sentence. */
export interface ProviderFailure {
  ok: false;
  /** Whether the user or the provider denied the login. */
  denied: boolean;
  message: string;
}

export type LoginBegun =
  /** `url`: where the browser goes. `state`: what it returns with. `kept`: the sealed request. */
  { ok: true; url: string; state: string; kept: string } | ProviderFailure;

const KEPT = 'login at a provider';

/**
 * Starts a login at the OpenID provider of an environment, with PKCE, state and nonce (OpenID Connect Core §3.1.2.1, RFC 7636).
 *
 * @param expiresAt when the login expires, milliseconds UTC
 */
export async function beginProviderLogin(
  tools: ProviderLoginTools,
  environment: EnvironmentRow,
  provider: LoginProviderRow,
  expiresAt: number,
): Promise<LoginBegun> {
  const found = await partiesOf(tools, provider);
  if (!found.ok) return found;
  const { oauth, client } = found;
  const begun = await beginAuthorization({
    provider: oauth,
    client,
    redirectUri: providerCallbackUrl(environment),
    scopes: provider.oidc?.scopes ?? [],
    fetchFor: (origins) => tools.fetchFor(provider.environmentId, origins),
    now: tools.now,
    random: tools.random,
  });
  if (!begun.ok) return { ok: false, denied: false, message: begun.message };
  const kept = tools.sealedData.seal(KEPT, [provider.id], JSON.stringify(begun.kept), expiresAt);
  return { ok: true, url: begun.url, state: begun.kept.state, kept };
}

/**
 * Finishes a login: redeems the code at the same provider, verifies the id_token (OpenID Connect Core §3.1.3.7) and reads the user from
 * its claims.
 *
 * @param kept as returned by `beginProviderLogin` for the same provider
 * @param answer the query of the callback
 */
export async function finishProviderLogin(
  tools: ProviderLoginTools,
  provider: LoginProviderRow,
  kept: string,
  answer: URLSearchParams,
): Promise<{ ok: true; subject: LoginSubject } | ProviderFailure> {
  const text = tools.sealedData.open(KEPT, [provider.id], kept);
  if (text === null) return failed('The login provider was changed during the login.');
  const authorization = JSON.parse(text) as KeptAuthorization;
  const found = await partiesOf(tools, provider);
  if (!found.ok) return found;
  const fetchFor = (origins: readonly string[]) => tools.fetchFor(provider.environmentId, origins);
  const finished = await finishAuthorization({
    provider: found.oauth,
    client: found.client,
    parameters: answer,
    kept: authorization,
    fetchFor,
    now: tools.now,
  });
  if (!finished.ok) return { ok: false, denied: finished.kind === 'denied', message: finished.message };
  return readUser(tools, provider, found.oauth, authorization, finished);
}

async function readUser(
  { fetchFor, now }: ProviderLoginTools,
  provider: LoginProviderRow,
  { metadata }: OAuthProvider,
  { clientId, nonce }: KeptAuthorization,
  { answer }: Granted,
): Promise<{ ok: true; subject: LoginSubject } | ProviderFailure> {
  const { id_token: idToken } = JSON.parse(answer.reveal()) as { id_token?: unknown };
  if (typeof idToken !== 'string' || !metadata) return failed('The login provider sent no id_token.');
  try {
    const fetch = pinnedToTarget((origins) => fetchFor(provider.environmentId, origins));
    const verified = await verifyIdToken({ idToken, metadata, clientId, nonce, fetch, now });
    if (!verified.ok) return failed(verified.message);
    const identified = identify(provider, verified.claims);
    return identified.ok ? identified : { ok: false, denied: true, message: identified.message };
  } catch (error) {
    if (isTransportFailure(error)) return failed(error.message);
    throw error;
  }
}

/** Reads the metadata of the provider, and opens the client. */
async function partiesOf(
  { vault, discovery, fetchFor }: ProviderLoginTools,
  provider: LoginProviderRow,
): Promise<{ ok: true; oauth: OAuthProvider; client: ClientCredentials } | ProviderFailure> {
  const { environmentId, issuer, oidc } = provider;
  if (!oidc) throw new TypeError('The login provider is not an OpenID provider');
  const found = await discovery.discover({
    issuer,
    partition: environmentId,
    fetchFor: (origins) => fetchFor(environmentId, origins),
  });
  if (!found.ok) return failed(found.message);
  const { metadata } = found;
  const oauth: OAuthProvider = {
    config: {
      authorize_uri: metadata.authorization_endpoint,
      token_uri: metadata.token_endpoint,
      // Requests a nonce, which binds the id_token to this login.
      identity: { subject: ['/id_token/sub'] },
    },
    metadata,
    inputs: {},
    address: (template) => template,
    tokenHeader: { name: 'Authorization', scheme: 'Bearer' },
  };
  const { clientId, authMethod: method } = oidc;
  return { ok: true, oauth, client: { clientId, method, secret: openLoginSecret(vault, provider) } };
}

function failed(message: string): ProviderFailure {
  return { ok: false, denied: false, message };
}
