import type { ClientBinding } from '../../db/store.ts';
import { moduleOf } from '../authorization/registry.ts';
import { directoryOf, isAtOrBelow, plainAddress, plainOrigin } from '../connectors/address-scope.ts';
import type { AuthPattern } from '../connectors/auth-pattern.ts';
import { oauthAddresses } from '../connectors/oauth-addresses.ts';
import type { ProviderDefinition } from '../connectors/provider.ts';

/** The part of a provider that determines where a client, and the tokens that it gets, are used. */
export type ClientProvider = Pick<ProviderDefinition, 'isCustom' | 'api' | 'proxyEnabled' | 'proxyUrl'>;
/** The part of a pattern that determines how a client is used. */
export type ClientPattern = Pick<AuthPattern, 'type' | 'oauth_config' | 'is_mcp'>;

/**
 * Returns the binding of a client that is being set: how, and at which addresses, it may be used. No endpoint is pinned
 * yet: an endpoint is pinned (stored with the client) at its first use, and from then on other endpoints are rejected.
 *
 * @param allowed `allowed_addresses` of its connection
 */
export function bindClient(provider: ClientProvider, pattern: ClientPattern, allowed: string[] | null): ClientBinding {
  return {
    method: methodOf(pattern),
    audience: audienceOf(pattern),
    within: [...new Set(addressesOf(provider, pattern))].sort(),
    base: baseOf(provider),
    allowed,
    registered: false,
    pinned: { byAccount: [], byProvider: null },
  };
}

/**
 * Returns the client columns of a new connection. They contain a binding if Valetkey signs identity tokens for
 * connections of its type instead of using a registered client. Otherwise the result is empty.
 */
export function firstClient(
  definition: { provider: ClientProvider; pattern: ClientPattern },
  allowed: string[] | null,
) {
  if (moduleOf(definition.pattern.type).client?.kind !== 'identity_token') return {};
  return { clientBinding: bindClient(definition.provider, definition.pattern, allowed) };
}

/**
 * Whether a definition uses a client only as its binding allows: with the same authentication method and audience, at
 * no additional OAuth addresses, and with its tokens at no other base URL.
 *
 * @param provider undefined if the provider was deleted: then nothing is called at its base URL
 */
export function isClientCovered(
  bound: ClientBinding,
  provider: ClientProvider | undefined,
  pattern: ClientPattern,
): boolean {
  if (methodOf(pattern) !== bound.method || audienceOf(pattern) !== bound.audience) return false;
  const isWithin = (address: string) => bound.within.some((limit) => isAtOrBelow(address, limit, address));
  if (!addressesOf(provider ?? GONE, pattern).every(isWithin)) return false;
  if (provider === undefined) return true;
  const base = baseOf(provider);
  return base === bound.base || (base !== null && bound.base !== null && isAtOrBelow(base, bound.base, base));
}

const GONE: ClientProvider = { isCustom: true, api: {}, proxyEnabled: false };

function methodOf({ type, oauth_config: config = {} }: ClientPattern): string {
  return moduleOf(type).client?.method?.(config) ?? config.client_auth_method ?? 'unsaid';
}

/**
 * Returns the audience of assertions that the client signs; null if it signs none, or if the audience is the address
 * that they are sent to.
 */
function audienceOf({ type, oauth_config: config = {} }: ClientPattern): string | null {
  const { client } = moduleOf(type);
  if (client?.audience) return client.audience(config);
  if (config.client_auth_method !== 'private_key_jwt') return null;
  return config.token?.assertion_audience ?? config.issuer ?? null;
}

/**
 * Returns the addresses where the client is used. For a custom provider, these are the issuer and the URL directories
 * of the endpoints: on a shared host, a neighboring directory may belong to another customer. For a built-in connector
 * they are origins.
 */
function addressesOf({ isCustom }: ClientProvider, { oauth_config: config = {} }: ClientPattern): string[] {
  const { authorize_uri, issuer, ...others } = config;
  const visited = authorize_uri === undefined ? [] : [authorize_uri];
  const called = oauthAddresses(others).map(({ template }) => template);
  if (!isCustom) return [...visited, ...called, ...(issuer === undefined ? [] : [issuer])].map(plainOrigin);
  return [...[...visited, ...called].map(directoryOf), ...(issuer === undefined ? [] : [plainAddress(issuer)])];
}

/**
 * Returns a text that identifies where the client's tokens are used; null for a custom provider that has no base URL or
 * does not use it.
 */
function baseOf({ isCustom, api, proxyEnabled, proxyUrl }: ClientProvider): string | null {
  if (isCustom) return proxyEnabled && proxyUrl ? plainAddress(proxyUrl) : null;
  const base = api.base_url === undefined ? `input ${api.base_url_input ?? ''}` : plainOrigin(api.base_url);
  return [base, ...(api.extra_origins ?? [])].join(' ');
}
