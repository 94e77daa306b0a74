import type { OAuthConfig } from './auth-pattern.ts';
import { compileLinearPattern } from './linear-pattern.ts';
import type { AccountValue } from './oauth-deviations.ts';
import type { ChosenSite, SITE } from './sites.ts';

const MAX_VALUE = 500;

/**
 * Account values that are not secret, by name. URLs and paths may contain them. The member SITE is the site that the
 * values select: a set of replacement addresses, such as those of a region.
 */
export type AccountInputs = Readonly<Record<string, string>> & { readonly [SITE]?: ChosenSite };

/**
 * Checks a value from a provider's callback or response (threat L9): an attacker who forges it must not be able to
 * choose a host.
 *
 * @returns why the value is invalid, as a message for API clients; undefined if it is valid
 */
export function accountValueProblem({ pattern, origins }: AccountValue, value: string): string | undefined {
  if (value === '' || value.length > MAX_VALUE || !/^[\x20-\x7e]*$/.test(value))
    return `does not have 1 to ${MAX_VALUE} printable ASCII characters`;
  if (origins !== undefined && originIn(value, origins) === undefined)
    return `does not have one of the allowed origins (${origins.join(', ')})`;
  if (pattern !== undefined && !compileLinearPattern(pattern).matches(value))
    return `does not match the pattern ${pattern}`;
  return undefined;
}

/**
 * Returns the origin in an account value.
 *
 * @returns undefined if the account has no such value, or if the value has no rule for origins or does not meet it
 */
export function accountOrigin(config: OAuthConfig, name: string, inputs: AccountInputs): string | undefined {
  const rule = config.account_values?.find((value) => value.name === name);
  const value = Object.hasOwn(inputs, name) ? inputs[name] : undefined;
  return rule?.origins === undefined || value === undefined ? undefined : originIn(value, rule.origins);
}

/**
 * Reads an origin that must be among the allowed ones.
 *
 * @param allowed https origins; `https://*.acme.example` matches every host below acme.example
 */
function originIn(text: string, allowed: readonly string[]): string | undefined {
  const url = URL.parse(text);
  if (url === null || url.protocol !== 'https:' || !/^https:\/\/[A-Za-z0-9.-]+(:\d+)?\/?$/.test(text)) return undefined;
  const fits = allowed.some((entry) =>
    entry.startsWith('https://*.') ? url.port === '' && url.hostname.endsWith(entry.slice(9)) : url.origin === entry,
  );
  return fits ? url.origin : undefined;
}
