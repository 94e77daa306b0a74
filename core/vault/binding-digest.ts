import { hash } from 'node:crypto';
import { lengthPrefixed } from './length-prefix.ts';

/** A cache: most credentials of a deployment have one of a few bindings, and every decryption needs the digest. */
const KNOWN = new Map<string, Buffer>();
const MAX_KNOWN = 1000;

/**
 * Returns a digest of the values that a credential is bound to. The order and repetition of origins do not matter.
 *
 * @param origins the origins that the credential may be sent to, each exactly as returned by `new URL(…).origin`, such
 * as `https://api.example.com`
 * @param terms further values that the credential is bound to, in a fixed order
 * @returns 32 bytes (SHA-256); the buffer is shared and must not be modified
 * @throws TypeError for an origin that is not normalized: equal sets must have equal digests
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
