import { decryptionError, VaultError } from './errors.ts';

/** The format version whose body is nonce, ciphertext, tag. */
export const DIRECT = 1;
/** The format version whose body is salt, nonce, ciphertext, tag. */
export const SALTED = 2;

export type BlobVersion = typeof DIRECT | typeof SALTED;

const KEY_ID = /^(?:kek|dek)_[A-Za-z0-9_-]{8,32}$/;

export interface SealedBlob {
  keyId: string;
  body: Buffer;
}

/** Returns the stored form: version (1 byte), length of the key id (1 byte), key id (ASCII), body. */
export function encodeBlob(version: BlobVersion, keyId: string, body: Buffer): Buffer {
  return Buffer.concat([Buffer.from([version, keyId.length]), Buffer.from(keyId, 'latin1'), body]);
}

/** Returns the id of the key that encrypted a blob, for any version. Throws as `decodeBlob`. */
export function sealedUnder(bytes: Buffer): string {
  return decodeBlob(bytes[0] === SALTED ? SALTED : DIRECT, bytes).keyId;
}

/**
 * Parses a stored blob.
 *
 * @throws VaultError `UNKNOWN_FORMAT` for an unexpected version, `UNSEALABLE` if it is not a blob
 */
export function decodeBlob(version: BlobVersion, bytes: Buffer): SealedBlob {
  const found = bytes[0];
  if (found === undefined) throw decryptionError(new Error('The blob is empty'));
  if (found !== version) throw new VaultError('UNKNOWN_FORMAT', `Unknown format ${found} of encrypted data`);
  const idEnd = 2 + (bytes[1] ?? 0);
  const keyId = bytes.toString('latin1', 2, idEnd);
  if (!KEY_ID.test(keyId)) throw decryptionError(new Error('The blob has no key id'));
  return { keyId, body: bytes.subarray(idEnd) };
}
