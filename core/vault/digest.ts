import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto';
import { deriveKey } from './derive-key.ts';
import { lengthPrefixed } from './length-prefix.ts';

const DIGEST_BYTES = 32;

export interface Digester {
  /**
   * @param purpose constant that identifies the use: equal values of different uses have different digests
   * @param parts encoded unambiguously before hashing, so that two different lists never give the same hash input
   * @returns 32 bytes (HMAC-SHA256)
   */
  digest(purpose: string, ...parts: string[]): Buffer;
  /** Compares two digests in constant time; false if one of them does not have 32 bytes. */
  equal(a: Buffer, b: Buffer): boolean;
}

/**
 * Creates keyed digests of values that are compared and never shown again, such as client secrets, idempotency keys and
 * requests. The secrets of webhooks are digests, too, which are computed again when they are needed. The digest is fast
 * on purpose: only passwords need a slow hash, and Valetkey digests no passwords.
 *
 * @param key 32-byte secret of the deployment; without it, a stolen database cannot be searched for a known value
 */
export function createDigester(key: KeyObject): Digester {
  const hmacKey = deriveKey(key, 'digest');
  return {
    digest: (purpose, ...parts) =>
      createHmac('sha256', hmacKey)
        .update(lengthPrefixed([purpose, ...parts]))
        .digest(),
    equal: (a, b) => a.length === DIGEST_BYTES && b.length === DIGEST_BYTES && timingSafeEqual(a, b),
  };
}
