import { calculatePKCECodeChallenge } from 'oauth4webapi';
import type { AuthorizationEndpoint } from './authorization-server.ts';

/**
 * The data of an authorization request that the callback needs. It is stored encrypted, bound to the browser that
 * started the request, and used once; `state` identifies it.
 */
export interface KeptAuthorization {
  state: string;
  /** null if PKCE is not used with the provider. */
  codeVerifier: string | null;
  /** null if no id_token is expected. */
  nonce: string | null;
  redirectUri: string;
  scopes: string[];
  clientId: string;
  /**
   * The issuer (null if unknown) and the token endpoint at the time of the request. The code is only redeemed if both
   * are still the same (RFC 9700 §4.4).
   */
  issuer: string | null;
  tokenEndpoint: string;
  /**
   * Whether the server includes `iss` in all its responses. If it does, a response without `iss` comes from another
   * server (RFC 9207 §2.4).
   */
  issuerIsSent: boolean;
}

/** In bytes: 256 bits. */
const RANDOM_SIZE = 32;

/** Returns 256 random bits, in the alphabet allowed for verifiers, states and nonces (RFC 7636 §4.1). */
export function randomText(random: (size: number) => Buffer): string {
  return random(RANDOM_SIZE).toString('base64url');
}

/**
 * Returns the parameters of an authorization request by their standard names (RFC 6749 §4.1.1, RFC 7636 §4.3, RFC 8707
 * §2.1).
 */
export async function authorizationParameters(
  endpoint: AuthorizationEndpoint,
  kept: KeptAuthorization,
): Promise<[name: string, value: string | string[]][]> {
  const challenge: [string, string][] =
    kept.codeVerifier === null
      ? []
      : [
          ['code_challenge', await calculatePKCECodeChallenge(kept.codeVerifier)],
          ['code_challenge_method', 'S256'],
        ];
  return [
    ['response_type', 'code'],
    ['client_id', kept.clientId],
    ['redirect_uri', kept.redirectUri],
    ...scopeParameters(endpoint, kept.scopes),
    ['state', kept.state],
    ...challenge,
    ...(kept.nonce === null ? [] : [['nonce', kept.nonce] as [string, string]]),
    ...(endpoint.resource === null ? [] : [['resource', endpoint.resource] as [string, string]]),
  ];
}

/**
 * Returns the scope parameters. Most providers use one list of scopes; some have separate parameters for the scopes of
 * users and of applications. Empty lists are omitted.
 */
function scopeParameters({ scopePrefixes }: AuthorizationEndpoint, scopes: readonly string[]): [string, string[]][] {
  const prefixes = Object.entries(scopePrefixes);
  const lists = new Map<string, string[]>();
  for (const scope of scopes) {
    const [parameter, prefix] = prefixes.find(([, beginning]) => scope.startsWith(beginning)) ?? ['scope', ''];
    lists.set(parameter, [...(lists.get(parameter) ?? []), scope.slice(prefix.length)]);
  }
  return [...lists];
}

/**
 * Converts standard parameters to those of the provider: renames some, leaves out those that the provider does not
 * accept, and adds its additional parameters.
 */
export function providerParameters(
  endpoint: AuthorizationEndpoint,
  standard: readonly [name: string, value: string | string[]][],
): [name: string, value: string | string[]][] {
  const { names, omit, parameters } = endpoint;
  const own = standard
    .filter(([name]) => !omit.has(name))
    .map(([name, value]): [string, string | string[]] => [
      Object.hasOwn(names, name) ? (names[name] ?? name) : name,
      value,
    ]);
  return [...own, ...Object.entries(parameters)];
}

/**
 * Returns the address that the browser is redirected to. Spaces are encoded as %20, because some servers read a plus
 * sign literally. A plus sign separates scopes if the provider requires it.
 */
export function authorizationUrl(
  { url, scopeSeparator }: AuthorizationEndpoint,
  parameters: readonly [name: string, value: string | string[]][],
): string {
  const between = scopeSeparator === '+' ? '+' : encodeURIComponent(scopeSeparator);
  const pairs = parameters.map(([name, value]) => {
    const text = [value].flat().map(encodeURIComponent).join(between);
    return `${encodeURIComponent(name)}=${text}`;
  });
  const target = new URL(url);
  target.search = [target.search.replace(/^\?/, ''), ...pairs].filter((part) => part !== '').join('&');
  return target.href;
}
