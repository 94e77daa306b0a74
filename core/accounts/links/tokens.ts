import type { Digester } from '../../vault/digest.ts';

const BYTES = 32;
const TOKEN = /^[A-Za-z0-9_-]{43}$/;

/**
 * The four secrets of a link. The digest of a token depends on its kind, so that a token of one kind cannot be used in
 * place of another.
 */
export type LinkTokenKind = 'link' | 'flow state' | 'flow browser' | 'auth request';

/** @returns 256 random bits in base64url */
export function mintToken(random: (size: number) => Buffer): string {
  return random(BYTES).toString('base64url');
}

export function isToken(text: string | undefined): text is string {
  return text !== undefined && TOKEN.test(text);
}

export function tokenDigest(digester: Pick<Digester, 'digest'>, kind: LinkTokenKind, token: string): Buffer {
  return digester.digest(`link: ${kind}`, token);
}
