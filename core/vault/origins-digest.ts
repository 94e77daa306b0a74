import { createHash } from 'node:crypto';
import { lengthPrefixed } from './length-prefix.ts';

/**
 * Stands for the set of origins that a credential may be sent to. Order and repetition do not matter.
 *
 * @param origins each exactly as `new URL(…).origin` writes it, such as `https://api.example.com`
 * @returns 32 bytes (SHA-256)
 * @throws TypeError for another spelling: two spellings of one set must not have two digests
 */
export function originsDigest(origins: readonly string[]): Buffer {
  for (const origin of origins) {
    if (URL.parse(origin)?.origin !== origin) throw new TypeError(`Not an origin: ${JSON.stringify(origin)}`);
  }
  const set = [...new Set(origins)].sort();
  return createHash('sha256').update(lengthPrefixed(set)).digest();
}
