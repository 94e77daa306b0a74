import type { AuthPattern, Site } from './auth-pattern.ts';

/** The site of an account: the replacements for the connector's addresses. */
export interface ChosenSite {
  /** The account field that chose it. */
  field: string;
  /**
   * Whether its host belongs to a customer, and not to the vendor: then `allowed_addresses` of the connection must list
   * it.
   */
  isForeign: boolean;
  addresses: readonly (readonly [from: string, to: string])[];
}

/** The member of account inputs that contains the site. No value of an account can have this name. */
export const SITE: unique symbol = Symbol('site');

const HOST = /^(?=.{4,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$/;

/**
 * Returns the first site of a pattern whose rule matches an account's values.
 *
 * @param values by field name
 * @returns undefined if the addresses of the connector apply as they are
 */
export function chooseSite(pattern: AuthPattern, values: Readonly<Record<string, string>>): ChosenSite | undefined {
  for (const { field_name: field, sites = [] } of pattern.account_fields ?? []) {
    const value = values[field];
    const site = value === undefined ? undefined : sites.find((candidate) => matches(candidate, value));
    if (value === undefined || site === undefined) continue;
    const isHost = site.host !== undefined;
    const addresses = Object.entries(site.addresses).map(
      ([from, to]) => [from, isHost ? to.replace(`{{${field}}}`, value) : to] as const,
    );
    return { field, isForeign: site.host === '*', addresses };
  }
  return undefined;
}

function matches({ value, host }: Site, given: string): boolean {
  if (value !== undefined) return given === value;
  if (host === undefined) return true;
  return HOST.test(given) && (host === '*' || given.endsWith(host.slice(1)));
}

/**
 * Returns an address, or a text that begins with one, with its beginning replaced as the site of the account requires.
 * Without a site or a matching replacement, it is returned unchanged.
 */
export function atSite(address: string, inputs: { readonly [SITE]?: ChosenSite }): string {
  const found = inputs[SITE]?.addresses.find(([from]) => beginsWith(address, from));
  return found === undefined ? address : found[1] + address.slice(found[0].length);
}

/** Whether an address equals a prefix or continues it with a path or a query. */
export function beginsWith(address: string, prefix: string): boolean {
  return address === prefix || (address.startsWith(prefix) && /^[/?]/.test(address.slice(prefix.length)));
}
