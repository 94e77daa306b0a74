import { hash } from 'node:crypto';
import { lengthPrefixed } from './length-prefix.ts';

/** Most credentials of a deployment are bound to one of a few sets of terms, and every opening of one asks for its digest. */
const KNOWN = new Map<string, Buffer>();
const MAX_KNOWN = 1000;

/**
 * Stands for what a credential is bound to. The order and repetition of origins do not matter.
 *
 * @param origins where it may be sent, each exactly as `new URL(…).origin` writes it, such as `https://api.example.com`
 * @param terms what else it is bound to, in a fixed order
 * @returns 32 bytes (SHA-256), shared: not to be written to
 * @throws TypeError for another spelling of an origin: two spellings of one set must not have two digests
 */
export function bindingDigest(origins: readonly string[], terms: readonly string[] = []): Buffer {
  const name = JSON.stringify([origins, terms]);
  const known = KNOWN.get(name);
  if (known) return known;
  const digest = digestOf(origins, terms);
  if (KNOWN.size >= MAX_KNOWN) KNOWN.clear();
  KNOWN.set(name, digest);
  return digest;
}

function digestOf(origins: readonly string[], terms: readonly string[]): Buffer {
  for (const origin of origins) {
    if (URL.parse(origin)?.origin !== origin) throw new TypeError(`Not an origin: ${JSON.stringify(origin)}`);
  }
  const set = [...new Set(origins)].sort();
  return hash('sha256', lengthPrefixed([String(set.length), ...set, ...terms]), 'buffer');
}
