/** The storage could not do its work: full, failing, locked, corrupt. The cause is for logs. */
export class StorageError extends Error {
  /** The code that the engine's database gives, or one of ours (`STORE_CLOSED`, `STORE_REFUSED`, …). */
  readonly code: string;

  constructor(code: string, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'StorageError';
    this.code = code;
  }
}

/**
 * Another transaction was in the way. It is certain that nothing was done, and the same may succeed if it is tried again. An engine runs
 * units again by itself; a caller gets this error when the engine gave up.
 */
export class RetryableError extends StorageError {}

/** A row with the same unique values exists. `constraint` is the name of the index, such as `accounts_identity`. */
export class UniqueError extends Error {
  readonly constraint: string;

  constructor(constraint: string, options?: { cause?: unknown }) {
    super(`a row with the same values exists (${constraint})`, options);
    this.name = 'UniqueError';
    this.constraint = constraint;
  }
}

/** A row that is referred to is missing, or a row that is to be removed is still in use. */
export class RelationError extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'RelationError';
  }
}
