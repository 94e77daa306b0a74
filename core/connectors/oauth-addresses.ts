import type { OAuthConfig } from './auth-pattern.ts';
import type { HttpCall } from './oauth-deviations.ts';

/** An address to which OAuth calls of a pattern go. */
export interface OAuthAddress {
  /** Its path in oauth_config. */
  path: string;
  /** Its places are those of account values alone. */
  template: string;
  /** The account value that holds its origin, where accounts differ in it. */
  originFrom?: string;
}

/** What calls can put into an address besides values of the account. */
export const CREDENTIAL_PLACES: ReadonlySet<string> = new Set([
  'access_token',
  'client_id',
  'client_secret',
  'refresh_token',
  'token',
]);

/** A path segment that takes a credential. */
const CREDENTIAL_SEGMENT = new RegExp(`(?<=[^/]/)\\{\\{(${[...CREDENTIAL_PLACES].join('|')})\\}\\}(?=/|\\?|$)`, 'g');

/** An address with something harmless in the segments that take credentials. */
export function withoutCredentials(template: string): string {
  return template.replace(CREDENTIAL_SEGMENT, 'x');
}

/** The calls of a config, with their paths in it. */
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

/** The addresses that requests of ours go to, with credentials of the account or of the client in them. */
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
