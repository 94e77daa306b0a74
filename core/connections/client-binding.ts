import type { ClientBinding } from '../../db/store.ts';
import { moduleOf } from '../authorization/registry.ts';
import { directoryOf, isAtOrBelow, plainAddress, plainOrigin } from '../connectors/address-scope.ts';
import type { AuthPattern } from '../connectors/auth-pattern.ts';
import { oauthAddresses } from '../connectors/oauth-addresses.ts';
import type { ProviderDefinition } from '../connectors/provider.ts';

/** The part of a provider that decides where a client and the tokens that it gets are used. */
export type ClientProvider = Pick<ProviderDefinition, 'isCustom' | 'api' | 'proxyEnabled' | 'proxyUrl'>;
/** The part of a pattern that decides how. */
export type ClientPattern = Pick<AuthPattern, 'type' | 'oauth_config' | 'is_mcp'>;

/**
 * The terms of a client that is set up now; nothing is pinned yet.
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

/** The terms of a new connection whose client is never set up, because it signs statements about its accounts. */
export function firstClient(
  definition: { provider: ClientProvider; pattern: ClientPattern },
  allowed: string[] | null,
) {
  if (moduleOf(definition.pattern.type).client?.kind !== 'identity_token') return {};
  return { clientBinding: bindClient(definition.provider, definition.pattern, allowed) };
}

/**
 * Whether a client that was set up for some terms may be used under others: it would prove itself in the same way, at no other
 * addresses of OAuth, and what it gets would be used at no other base.
 *
 * @param provider undefined when the provider is gone: then nothing is called at its base
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

/** Whom signed assertions of the client are for, where that is not the address that they are sent to. */
function audienceOf({ type, oauth_config: config = {} }: ClientPattern): string | null {
  const { client } = moduleOf(type);
  if (client?.audience) return client.audience(config);
  if (config.client_auth_method !== 'private_key_jwt') return null;
  return config.token?.assertion_audience ?? config.issuer ?? null;
}

/**
 * Of a custom provider, whose definition clients of the API write, the directories of its addresses count: on a shared host the next
 * directory may belong to another customer. Of a built-in connector, which comes with this program, the origins do.
 */
function addressesOf({ isCustom }: ClientProvider, { oauth_config: config = {} }: ClientPattern): string[] {
  const { authorize_uri, issuer, ...others } = config;
  const visited = authorize_uri === undefined ? [] : [authorize_uri];
  const called = oauthAddresses(others).map(({ template }) => template);
  if (!isCustom) return [...visited, ...called, ...(issuer === undefined ? [] : [issuer])].map(plainOrigin);
  return [...[...visited, ...called].map(directoryOf), ...(issuer === undefined ? [] : [plainAddress(issuer)])];
}

/** Where the tokens of the client are used. */
function baseOf({ isCustom, api, proxyEnabled, proxyUrl }: ClientProvider): string | null {
  if (isCustom) return proxyEnabled && proxyUrl ? plainAddress(proxyUrl) : null;
  const base = api.base_url === undefined ? `input ${api.base_url_input ?? ''}` : plainOrigin(api.base_url);
  return [base, ...(api.extra_origins ?? [])].join(' ');
}
