import { calculatePKCECodeChallenge } from 'oauth4webapi';
import type { AuthorizationEndpoint } from './authorization-server.ts';

/**
 * What has to be known again when the person comes back. It is to be kept sealed, bound to the browser, and used once; `state`
 * finds it.
 */
export interface KeptAuthorization {
  state: string;
  /** null: the provider takes no proof key. */
  codeVerifier: string | null;
  /** null: no id_token is expected. */
  nonce: string | null;
  redirectUri: string;
  scopes: string[];
  clientId: string;
  /** The issuer and the token endpoint of the request: a response is only redeemed there (RFC 9700 §4.4). */
  issuer: string | null;
  tokenEndpoint: string;
  /** The server names itself in its responses, so a response without `iss` is not its own (RFC 9207 §2.4). */
  issuerIsSent: boolean;
}

/** In bytes: 256 bits. */
const RANDOM_SIZE = 32;

/** 256 random bits in the alphabet that verifiers, states and nonces may have (RFC 7636 §4.1). */
export function randomText(random: (size: number) => Buffer): string {
  return random(RANDOM_SIZE).toString('base64url');
}

/** The parameters of an authorization request in the terms of the standard (RFC 6749 §4.1.1, RFC 7636 §4.3, RFC 8707 §2.1). */
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

/** One list of scopes as a rule; some providers take those of users and those of applications in two. Empty ones are left out. */
function scopeParameters({ scopePrefixes }: AuthorizationEndpoint, scopes: readonly string[]): [string, string[]][] {
  const prefixes = Object.entries(scopePrefixes);
  const lists = new Map<string, string[]>();
  for (const scope of scopes) {
    const [parameter, prefix] = prefixes.find(([, beginning]) => scope.startsWith(beginning)) ?? ['scope', ''];
    lists.set(parameter, [...(lists.get(parameter) ?? []), scope.slice(prefix.length)]);
  }
  return [...lists];
}

/** The same in the provider's own terms, with what it wants besides. */
export function inTermsOf(
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
 * The address that the browser is sent to. Spaces are written %20, because some servers read a plus sign literally; between
 * scopes a plus sign is written if the provider requires it.
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
