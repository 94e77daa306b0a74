/**
 * Error codes of the vault:
 * - `NO_KEY`: no key-encryption key was given, or its file cannot be read
 * - `KEY_FILE_PERMISSIONS`: users other than the owner may read or change the key file
 * - `KEY_FORMAT`: a line of the key ring is invalid, or the key file is not a small regular file
 * - `KEY_FILE_EXISTS`, `KEY_FILE_BUSY`: a key file already exists, or another process is changing it
 * - `UNKNOWN_KEY`: the ring does not have the requested key
 * - `KEY_IN_USE`: the key is the active one, records are encrypted under it, or a server may still encrypt with it
 * - `KEY_CHECK_FAILED`: the ring has a different key under this id than the one that encrypted the data
 * - `UNKNOWN_FORMAT`: encrypted with a version of the format that this release does not support
 * - `UNSEALABLE`: any failure of decryption, without the failed step
 */
export type VaultErrorCode =
  | 'NO_KEY'
  | 'KEY_FILE_PERMISSIONS'
  | 'KEY_FORMAT'
  | 'KEY_FILE_EXISTS'
  | 'KEY_FILE_BUSY'
  | 'UNKNOWN_KEY'
  | 'KEY_IN_USE'
  | 'KEY_CHECK_FAILED'
  | 'UNKNOWN_FORMAT'
  | 'UNSEALABLE';

/** A failure of the vault. Messages may contain ids, paths and line numbers, never key material or plaintext. */
export class VaultError extends Error {
  readonly code: VaultErrorCode;

  constructor(code: VaultErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'VaultError';
    this.code = code;
  }
}

/**
 * Returns the same message for every cryptographic failure, so that the failed check is not revealed. The cause is only
 * logged.
 */
export function decryptionError(cause: unknown): VaultError {
  return new VaultError(
    'UNSEALABLE',
    'The encrypted data cannot be decrypted: it was moved, altered or damaged. Restore a backup, or enter the value again',
    cause,
  );
}
