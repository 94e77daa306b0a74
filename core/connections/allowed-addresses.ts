import type { ConnectionRow } from '../../db/store.ts';
import { usersEnterCredentials } from '../accounts/links/completion.ts';
import { moduleOf } from '../authorization/registry.ts';
import { isRecordSystem } from '../authorization/roles.ts';
import type { AccountInputs } from '../connectors/account-value.ts';
import { isAtOrBelow, plainAddress } from '../connectors/address-scope.ts';
import type { AuthPattern } from '../connectors/auth-pattern.ts';
import { API_CONFIG_PATH, baseTemplateOf, baseUrlOf } from '../connectors/base-url.ts';
import { oauthAddresses } from '../connectors/oauth-addresses.ts';
import type { ProviderDefinition } from '../connectors/provider.ts';
import { isSecureAddress } from '../connectors/secure-address.ts';
import { SITE } from '../connectors/sites.ts';
import type { FieldError } from '../errors.ts';

const PLACE = /\{\{([^{}]*)\}\}/;
/** An entry such as `https://*.acme.example`: the name after `*.` must have at least two labels. */
const WILDCARD = /^https:\/\/\*\.(?=[^*/]+\.[^*/]+$)[a-z0-9.-]+$/;

/**
 * Whether `allowed_addresses` of a connection allow an address: it must equal an entry, or have the same origin and a
 * path below that of the entry. The entry `https://*.acme.example` allows all subdomains of acme.example, at the
 * default port of https.
 */
export function isAllowed(address: string, allowed: readonly string[]): boolean {
  const plain = plainAddress(address);
  return allowed.some((entry) =>
    WILDCARD.test(entry)
      ? plain.startsWith('https://') && new URL(plain).port === '' && new URL(plain).hostname.endsWith(entry.slice(9))
      : isAtOrBelow(plain, plainAddress(entry)),
  );
}

/**
 * Whether `other` allows every address that `list` allows. A wildcard in `list` must also be an entry of `other`. If
 * one of the lists is missing (null), the result is true only if both are.
 */
export function isWithin(list: readonly string[] | null, other: readonly string[] | null): boolean {
  if (list === null || other === null) return list === other;
  return list.every((entry) => other.includes(entry) || (!WILDCARD.test(entry) && isAllowed(entry, other)));
}

/**
 * Returns why a text cannot be an entry of `allowed_addresses`, for an error that names the entry; undefined if it can.
 */
export function entryProblem(entry: string): string | undefined {
  if (WILDCARD.test(entry)) return undefined;
  const url = URL.parse(entry);
  const isPlain = url !== null && url.username === '' && url.password === '' && !/[?#{}*\\]/.test(entry);
  if (isPlain && isSecureAddress(url) && plainAddress(entry) === entry.replace(/\/$/, '')) return undefined;
  return 'must be a normalized https URL without a user name, query or fragment (in development also http on loopback), or a wildcard such as https://*.example.com';
}

/** Whether the provider's base URL contains a value of the account, or is such a value. */
export function isBaseOpen(provider: ProviderDefinition): boolean {
  const template = baseTemplateOf(provider);
  return template === undefined ? provider.api.base_url_input !== undefined : PLACE.test(template);
}

/**
 * Whether a value of the account determines where the OAuth client of a connection is used: at which health record
 * system, or at which address of a custom provider. This is false for other built-in connectors, because their hosts
 * belong to one vendor (a customer's server is checked separately, by `SITE`). It is also false if users enter a client
 * for each account.
 */
export function isClientOpen(provider: ProviderDefinition, pattern: AuthPattern): boolean {
  if (usersEnterCredentials(pattern)) return false;
  if (isRecordSystem(pattern)) return isBaseOpen(provider);
  return provider.isCustom && openAddresses(pattern).length > 0;
}

/** Returns the OAuth addresses that contain a placeholder for a value of the account. */
export function openAddresses(pattern: AuthPattern): string[] {
  return clientAddresses(pattern).filter((template) => PLACE.test(template));
}

/**
 * Returns the OAuth addresses, with their placeholders, at which the client of a connection or its tokens are used. The
 * list is empty if Valetkey signs identity tokens instead of using a client.
 */
export function clientAddresses({ type, oauth_config: config = {} }: AuthPattern): string[] {
  if (moduleOf(type).client?.kind === 'identity_token') return [];
  const visited = config.authorize_uri === undefined ? [] : [config.authorize_uri];
  return [...visited, ...oauthAddresses(config).map(({ template }) => template)];
}

export const NOT_ALLOWED = 'must be an address listed in allowed_addresses of the connection, or one below it';

/**
 * Checks that the connection allows the base URL of an account, if a value of the account determines this URL. A
 * connection without `allowed_addresses` allows every base URL, except a server of a customer that the account uses
 * instead of the vendor's hosts (`isForeign`).
 */
export function checkAllowedBase(
  { allowedAddresses }: Pick<ConnectionRow, 'allowedAddresses'>,
  provider: ProviderDefinition,
  inputs: AccountInputs,
): FieldError[] {
  const site = inputs[SITE];
  if (allowedAddresses === null && !site?.isForeign) return [];
  if (site === undefined && !isBaseOpen(provider)) return [];
  const name = (baseTemplateOf(provider) && site?.field) ?? baseField(provider);
  if (inputs[name] === undefined || isAllowed(baseUrlOf(provider, inputs), allowedAddresses ?? [])) return [];
  return [{ field: `${API_CONFIG_PATH}.${name}`, message: NOT_ALLOWED }];
}

function baseField(provider: ProviderDefinition): string {
  const template = baseTemplateOf(provider);
  return (template === undefined ? provider.api.base_url_input : PLACE.exec(template)?.[1]) ?? '';
}
