import { createCipheriv, createDecipheriv, createHmac, createSecretKey, type KeyObject } from 'node:crypto';

const ALGORITHM = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const SALT_BYTES = 16;

export type RandomSource = (size: number) => Buffer;

/**
 * Encrypts with AES-256-GCM (NIST SP 800-38D), with a random 96-bit nonce and a 128-bit tag. Only for keys that encrypt
 * few messages: a data key, or a key-encryption key that wraps data keys (at most 2^32 messages per key).
 *
 * @param key 256 bits
 * @param associatedData authenticated together with the message, but not part of it
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
 * Decrypts the output of `seal`.
 *
 * @returns the plaintext in a new buffer, which the caller wipes
 * @throws Error for anything that was not encrypted with this key and this associated data
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
 * As `seal`, for a long-lived key that encrypts without limit (page tokens, stored responses). Every message has its
 * own key, derived from a random 128-bit salt, so that no key encrypts more messages than random nonces allow.
 *
 * @returns salt, nonce, ciphertext, tag
 */
export function sealSalted(root: KeyObject, associatedData: Buffer, plaintext: Buffer, random: RandomSource): Buffer {
  const salt = exactly(SALT_BYTES, random);
  return Buffer.concat([salt, seal(messageKey(root, salt), associatedData, plaintext, random)]);
}

/** How many messages share a salt: few enough for random nonces, and so many that key derivation costs little time. */
const MESSAGES_PER_SALT = 1000;

/**
 * Returns a function that seals as `sealSalted` does, except that a thousand messages share a salt and its key.
 * Deriving a key takes longer than encrypting a short message.
 */
export function createSaltedSealer(
  root: KeyObject,
  random: RandomSource,
): (associatedData: Buffer, plaintext: Buffer) => Buffer {
  let left = 0;
  let salt: Buffer;
  let key: KeyObject;
  return (associatedData, plaintext) => {
    if (left === 0) {
      salt = exactly(SALT_BYTES, random);
      key = messageKey(root, salt);
      left = MESSAGES_PER_SALT;
    }
    left--;
    return Buffer.concat([salt, seal(key, associatedData, plaintext, random)]);
  };
}

/** Decrypts the output of `sealSalted`, with the result and the errors of `open`. */
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

/** GCM accepts nonces of any length, so a random source that returns too few bytes must be detected. */
function exactly(size: number, random: RandomSource): Buffer {
  const bytes = random(size);
  if (bytes.length !== size) throw new RangeError('The random source returned a wrong length');
  return bytes;
}
