import { createCipheriv, createDecipheriv, createHmac, createSecretKey, type KeyObject } from 'node:crypto';

const ALGORITHM = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const SALT_BYTES = 16;

export type RandomSource = (size: number) => Buffer;

/**
 * AES-256-GCM (NIST SP 800-38D) with a random 96-bit nonce and a 128-bit tag. Made for keys that seal few messages: a data
 * key, or a key-encryption key that wraps data keys (at most 2^32 messages per key).
 *
 * @param key 256 bits
 * @param associatedData bound to the message, not part of it
 * @returns nonce, ciphertext, tag
 */
export function seal(key: KeyObject, associatedData: Buffer, plaintext: Buffer, random: RandomSource): Buffer {
  const nonce = exactly(NONCE_BYTES, random);
  const cipher = createCipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(associatedData);
  const ciphertext = cipher.update(plaintext);
  cipher.final();
  return Buffer.concat([nonce, ciphertext, cipher.getAuthTag()]);
}

/**
 * Opens what `seal` made.
 *
 * @returns the plaintext, in memory of its own, for the caller to wipe
 * @throws Error for anything that was not sealed with this key and this associated data
 */
export function open(key: KeyObject, associatedData: Buffer, sealed: Buffer): Buffer {
  const end = sealed.length - TAG_BYTES;
  if (end < NONCE_BYTES) throw new Error('The message is shorter than its nonce and tag');
  const decipher = createDecipheriv(ALGORITHM, key, sealed.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
  decipher.setAAD(associatedData);
  decipher.setAuthTag(sealed.subarray(end));
  const plaintext = decipher.update(sealed.subarray(NONCE_BYTES, end));
  try {
    decipher.final();
  } catch (cause) {
    plaintext.fill(0);
    throw cause;
  }
  return plaintext;
}

/**
 * Like `seal`, for a key that lives long and seals without bound (page tokens, stored replies): every message has a key of its
 * own, derived from a random 128-bit salt, so that random nonces never come near their limit.
 *
 * @returns salt, nonce, ciphertext, tag
 */
export function sealSalted(root: KeyObject, associatedData: Buffer, plaintext: Buffer, random: RandomSource): Buffer {
  const salt = exactly(SALT_BYTES, random);
  return Buffer.concat([salt, seal(messageKey(root, salt), associatedData, plaintext, random)]);
}

/** Opens what `sealSalted` made, with the result and the errors of `open`. */
export function openSalted(root: KeyObject, associatedData: Buffer, sealed: Buffer): Buffer {
  const key = messageKey(root, sealed.subarray(0, SALT_BYTES));
  return open(key, associatedData, sealed.subarray(SALT_BYTES));
}

function messageKey(root: KeyObject, salt: Buffer): KeyObject {
  const bytes = createHmac('sha256', root).update('valetkey message key').update(salt).digest();
  const key = createSecretKey(bytes);
  bytes.fill(0);
  return key;
}

/** GCM takes nonces of any length without a word, so a random source that answers short must not go unnoticed. */
function exactly(size: number, random: RandomSource): Buffer {
  const bytes = random(size);
  if (bytes.length !== size) throw new RangeError('The random source returned a wrong length');
  return bytes;
}
