import { isToken, mintToken } from '../accounts/links/tokens.ts';
import type { Digester } from '../vault/digest.ts';

/** The secrets of a session, in order. The kind is part of their digests, so that one cannot be used as the other. */
export type SessionTokenKind = 'url' | 'cookie';

export function sessionDigest(digester: Pick<Digester, 'digest'>, kind: SessionTokenKind, token: string): Buffer {
  return digester.digest(`portal: ${kind}`, token);
}

/**
 * Returns what binds a form of the portal to the browser of the session and to one action, so that only a page of the
 * portal knows it.
 *
 * @param action what the form does, with the id of its object
 */
export function formDigest(digester: Pick<Digester, 'digest'>, cookie: string, action: string): Buffer {
  return digester.digest('portal: form', cookie, action);
}

export { isToken, mintToken };
