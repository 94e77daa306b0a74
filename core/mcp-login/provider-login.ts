import type { EnvironmentId, EnvironmentRow, LoginProviderRow, LoginSubject } from '../../db/store.ts';
import type { KeptAuthorization } from '../oauth/authorization-request.ts';
import type { Discovery } from '../oauth/discovery.ts';
import {
  beginOpenIdLogin,
  finishOpenIdLogin,
  type OpenIdClient,
  type OpenIdDeps,
  type OpenIdFailure,
} from '../oauth/openid-login.ts';
import type { ProtocolFetch } from '../oauth/transport.ts';
import type { SealedTokens } from '../vault/sealed-token.ts';
import type { Vault } from '../vault/vault.ts';
import { portalCallbackUrl, providerCallbackUrl } from './addresses.ts';
import { identify } from './identity.ts';
import { openLoginSecret } from './login-provider.ts';

export interface ProviderLoginDeps {
  vault: Vault;
  discovery: Discovery;
  /** Encrypts the data that is kept for the callback while the user is at the provider. */
  sealedData: SealedTokens;
  fetchFor(environmentId: EnvironmentId, origins: readonly string[]): ProtocolFetch | Promise<ProtocolFetch>;
  /** Milliseconds UTC. */
  now(): number;
  random(size: number): Buffer;
}

export type LoginBegun =
  /**
   * `url`: the address that the browser is redirected to. `state`: the parameter with which the provider redirects it
   * back. `kept`: the encrypted data with which `finishProviderLogin` finishes the login.
   */
  { ok: true; url: string; state: string; kept: string } | OpenIdFailure;

/** What the user logs in to: an MCP server or the portal. */
export type LoginPurpose = 'mcp' | 'portal';

const KEPT: Record<LoginPurpose, string> = { mcp: 'login at a provider', portal: 'login to the portal' };
const CALLBACKS: Record<LoginPurpose, (environment: EnvironmentRow) => string> = {
  mcp: providerCallbackUrl,
  portal: portalCallbackUrl,
};

/**
 * Starts a login at the OpenID provider of an environment.
 *
 * @param expiresAt when the login expires, milliseconds UTC
 */
export async function beginProviderLogin(
  deps: ProviderLoginDeps,
  environment: EnvironmentRow,
  provider: LoginProviderRow,
  expiresAt: number,
  purpose: LoginPurpose = 'mcp',
): Promise<LoginBegun> {
  const redirectUri = CALLBACKS[purpose](environment);
  const begun = await beginOpenIdLogin(toolsFor(deps, provider), clientOf(deps, provider), redirectUri);
  if (!begun.ok) return begun;
  const kept = deps.sealedData.seal(KEPT[purpose], [provider.id], JSON.stringify(begun.kept), expiresAt);
  return { ok: true, url: begun.url, state: begun.kept.state, kept };
}

/**
 * Finishes a login, and reads the user from the claims of the id_token.
 *
 * @param kept as returned by `beginProviderLogin` for the same provider and purpose
 * @param answer the query of the callback
 */
export async function finishProviderLogin(
  deps: ProviderLoginDeps,
  provider: LoginProviderRow,
  kept: string,
  answer: URLSearchParams,
  purpose: LoginPurpose = 'mcp',
): Promise<{ ok: true; subject: LoginSubject } | OpenIdFailure> {
  const text = deps.sealedData.open(KEPT[purpose], [provider.id], kept);
  if (text === null) {
    const message = 'The login has expired, or the login provider was changed during it. Log in again.';
    return { ok: false, denied: false, message };
  }
  const authorization = JSON.parse(text) as KeptAuthorization;
  const client = clientOf(deps, provider);
  const finished = await finishOpenIdLogin(toolsFor(deps, provider), client, authorization, answer);
  if (!finished.ok) return finished;
  const identified = identify(provider, finished.claims);
  return identified.ok ? identified : { ok: false, denied: true, message: identified.message };
}

function toolsFor(
  { discovery, fetchFor, now, random }: ProviderLoginDeps,
  { environmentId }: LoginProviderRow,
): OpenIdDeps {
  const partition = environmentId;
  return { discovery, partition, fetchFor: (origins) => fetchFor(environmentId, origins), now, random };
}

function clientOf({ vault }: ProviderLoginDeps, provider: LoginProviderRow): OpenIdClient {
  const { issuer, oidc } = provider;
  if (!oidc) throw new TypeError('The login provider is not an OpenID provider');
  const { clientId, authMethod: method, scopes } = oidc;
  return { issuer, client: { clientId, method, secret: openLoginSecret(vault, provider) }, scopes };
}
