import type { OAuthConfig } from './auth-pattern.ts';
import type { HttpCall } from './oauth-deviations.ts';

/** An address that the OAuth calls of a pattern use. */
export interface OAuthAddress {
  /** The path of the address within oauth_config. */
  path: string;
  /** The address with placeholders, which are filled only with account values. */
  template: string;
  /** The account value that contains the origin, if it differs between accounts. */
  originFrom?: string;
}

/** Placeholders for credentials. The addresses and texts of calls can contain them besides those for account values. */
export const CREDENTIAL_PLACES: ReadonlySet<string> = new Set([
  'access_token',
  'client_id',
  'client_secret',
  'refresh_token',
  'token',
]);

/** A placeholder for a credential that is a whole path segment. */
const CREDENTIAL_SEGMENT = new RegExp(`(?<=[^/]/)\\{\\{(${[...CREDENTIAL_PLACES].join('|')})\\}\\}(?=/|\\?|$)`, 'g');

/** Returns an address with the letter x in place of each credential segment, so that it can be checked and compared. */
export function withoutCredentials(template: string): string {
  return template.replace(CREDENTIAL_SEGMENT, 'x');
}

/**
 * Returns the calls of an OAuth configuration that replace or extend the standard ones, each with its path within
 * oauth_config.
 */
export function oauthCalls(config: OAuthConfig): [path: string, call: HttpCall][] {
  const calls: [string, HttpCall | undefined][] = [
    ['exchange', config.exchange],
    ['lookup', config.lookup],
    ['refresh.call', config.refresh?.call],
    ['revocation.call', config.revocation?.call],
    ['identity.call', config.identity?.call],
  ];
  return calls.filter((entry): entry is [string, HttpCall] => entry[1] !== undefined);
}

/** Returns the addresses that Valetkey sends requests to with credentials of the account or the client. */
export function oauthAddresses(config: OAuthConfig): OAuthAddress[] {
  const { token, authorization, refresh } = config;
  const plain: [path: string, template: string | undefined, originFrom?: string][] = [
    ['token_uri', config.token_uri, token?.origin_from],
    ['request_token_uri', config.request_token_uri],
    ['revocation_uri', config.revocation_uri, token?.origin_from],
    ['refresh.uri', refresh?.uri, token?.origin_from],
    ['user_info_uri', config.user_info_uri],
    ['issuer', config.issuer],
    ['authorization.pushed_uri', authorization?.pushed_uri],
  ];
  const recipes = oauthCalls(config).map(([path, call]) => [`${path}.uri`, call.uri, call.origin_from] as const);
  return [...plain, ...recipes].flatMap(([path, template, originFrom]) =>
    template === undefined ? [] : [{ path, template: withoutCredentials(template), originFrom }],
  );
}
