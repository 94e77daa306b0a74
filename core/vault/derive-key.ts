import { createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';

/**
 * Derives an independent 256-bit key for one purpose (HKDF-SHA256, RFC 5869), so that no key is used in two algorithms.
 *
 * @param root key of at least 256 bits of entropy
 * @param purpose constant that identifies the use, different for each
 */
export function deriveKey(root: KeyObject, purpose: string): KeyObject {
  const bytes = deriveBytes(root, purpose);
  const key = createSecretKey(bytes);
  bytes.fill(0);
  return key;
}

/** Returns the 32 derived bytes, for values that are stored or shown. */
export function deriveBytes(root: KeyObject, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', root, Buffer.alloc(0), `valetkey ${purpose}`, 32));
}
