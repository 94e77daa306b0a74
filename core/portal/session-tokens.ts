import { isToken, mintToken } from '../accounts/links/tokens.ts';
import type { Digester } from '../vault/digest.ts';

/**
 * The kinds of secrets of a session: first the secret in its one-time URL, then the secret in the cookie. The kind is
 * part of the digest, so that the secret of the URL cannot be used as a cookie.
 */
export type SessionTokenKind = 'url' | 'cookie';

export function sessionDigest(digester: Pick<Digester, 'digest'>, kind: SessionTokenKind, token: string): Buffer {
  return digester.digest(`portal: ${kind}`, token);
}

/**
 * Returns the anti-CSRF token of a form. The token binds the form to the cookie of the session and to one action, so
 * only pages of the portal can contain it.
 *
 * @param action what the form does, with the id of its object
 */
export function formDigest(digester: Pick<Digester, 'digest'>, cookie: string, action: string): Buffer {
  return digester.digest('portal: form', cookie, action);
}

export { isToken, mintToken };
