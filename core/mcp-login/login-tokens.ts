import { isToken, mintToken } from '../accounts/links/tokens.ts';
import type { Digester } from '../vault/digest.ts';

/** The secrets of a login, one after the other. Each has digests of its own kind, so that none can stand for another. */
export type LoginTokenKind = 'login request' | 'continuation' | 'consent' | 'code';

export function loginTokenDigest(digester: Pick<Digester, 'digest'>, kind: LoginTokenKind, token: string): Buffer {
  return digester.digest(`mcp login: ${kind}`, token);
}

/** What is stored of the cookie of the browser in which a login began. */
export function browserDigest(digester: Pick<Digester, 'digest'>, cookie: string): Buffer {
  return digester.digest('mcp login: browser', cookie);
}

export { isToken, mintToken };
