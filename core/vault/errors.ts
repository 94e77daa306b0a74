/**
 * What can go wrong in the vault, for callers to tell apart:
 * - `NO_KEY`: no key-encryption key was given, or its file cannot be read
 * - `KEY_FILE_PERMISSIONS`: others than the owner may read or change the key file
 * - `KEY_FORMAT`: a line of the key ring is not usable
 * - `KEY_FILE_EXISTS`, `KEY_FILE_BUSY`: a key file is in the way, or is being changed by somebody else
 * - `UNKNOWN_KEY`: the ring does not hold the key that is asked for
 * - `KEY_IN_USE`: the key is the active one, or records are still sealed under it
 * - `KEY_CHECK_FAILED`: the ring holds another key under this id than the one that sealed the data
 * - `UNKNOWN_FORMAT`: sealed by a version of the format that this release does not know
 * - `UNSEALABLE`: everything that a cipher can refuse, without saying which step did
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

/** A failure of the vault. Messages carry ids, paths and line numbers, never key material or plaintext. */
export class VaultError extends Error {
  readonly code: VaultErrorCode;

  constructor(code: VaultErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'VaultError';
    this.code = code;
  }
}

/** One message for every cryptographic failure, so that nobody learns which check refused. The cause is for logs only. */
export function unsealable(cause: unknown): VaultError {
  return new VaultError('UNSEALABLE', 'The sealed data cannot be opened', cause);
}
