import { hash } from 'node:crypto';
import { lengthPrefixed } from './length-prefix.ts';

/** Most credentials of a deployment have one of a few sets of origins, and every opening of one asks for its digest. */
const KNOWN = new Map<string, Buffer>();
const MAX_KNOWN = 1000;

/**
 * Stands for the set of origins that a credential may be sent to. Order and repetition do not matter.
 *
 * @param origins each exactly as `new URL(…).origin` writes it, such as `https://api.example.com`
 * @returns 32 bytes (SHA-256), shared: not to be written to
 * @throws TypeError for another spelling: two spellings of one set must not have two digests
 */
export function originsDigest(origins: readonly string[]): Buffer {
  const name = JSON.stringify(origins);
  const known = KNOWN.get(name);
  if (known) return known;
  const digest = digestOf(origins);
  if (KNOWN.size >= MAX_KNOWN) KNOWN.clear();
  KNOWN.set(name, digest);
  return digest;
}

function digestOf(origins: readonly string[]): Buffer {
  for (const origin of origins) {
    if (URL.parse(origin)?.origin !== origin) throw new TypeError(`Not an origin: ${JSON.stringify(origin)}`);
  }
  const set = [...new Set(origins)].sort();
  return hash('sha256', lengthPrefixed(set), 'buffer');
}
