/**
 * A failure of the storage, for example a full disk, or a database that is locked, corrupt or in the wrong state.
 * `cause` is only for the log.
 */
export class StorageError extends Error {
  /** The error code of the database, or one of this project (`STORE_CLOSED`, `STORE_REFUSED`, …). */
  readonly code: string;

  constructor(code: string, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'StorageError';
    this.code = code;
  }
}

/**
 * Another transaction caused a conflict. Nothing was done, and the operation may succeed if it is repeated. An engine
 * repeats units itself; a caller only gets this error after the engine gave up.
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

/** A referenced row is missing, or a row that is to be removed is still referenced. */
export class RelationError extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'RelationError';
  }
}
