import { isToken, mintToken } from '../accounts/links/tokens.ts';
import type { Digester } from '../vault/digest.ts';

/**
 * The kinds of secrets of a login, in the order in which they are used. A login begins with one of the first two. The
 * kind is part of a secret's stored digest, so that a secret of one kind cannot be used as another kind.
 */
export type LoginTokenKind = 'login request' | 'provider state' | 'continuation' | 'consent' | 'code';

export function loginTokenDigest(digester: Pick<Digester, 'digest'>, kind: LoginTokenKind, token: string): Buffer {
  return digester.digest(`mcp login: ${kind}`, token);
}

/** The stored digest of the cookie of the browser in which a login began. */
export function browserDigest(digester: Pick<Digester, 'digest'>, cookie: string): Buffer {
  return digester.digest('mcp login: browser', cookie);
}

export { isToken, mintToken };
