import type { DatabaseState } from './database-state.ts';
import type { ReadRepositories, Transaction } from './repositories.ts';

/**
 * The storage of a deployment. Functions that use the database may take several turns of the event loop, so they return
 * promises.
 */
export interface Store {
  /** Reads committed data only. */
  readonly read: ReadRepositories;
  /**
   * Lets the reads that are called in this turn of the event loop share one snapshot, which is faster. Call it when a
   * request or other input arrives, so that the snapshot contains everything that was committed before. In an engine
   * without this optimization it does nothing.
   *
   * @returns a promise that never rejects. It need not be awaited: reads that are called after `shareReads` returns use
   * the snapshot
   */
  shareReads(): Promise<void>;
  /**
   * Runs a unit of work in a transaction, and resolves with the result of the unit when the transaction is durable. A
   * unit that throws is undone, and the promise is rejected with its error. A unit may await only the functions of its
   * `tx`, so call other servers before the unit. It must read through `tx` too, because `read` only shows what was
   * committed before. A unit may run more than once, so it must not have any effect except through its `tx`. A unit
   * whose write fails, even with a UniqueError, must fail too, because an engine may undo the whole unit.
   *
   * @throws StorageError when the transaction is lost as a whole, or the store is closed or has failed
   */
  write<T>(unit: (tx: Transaction) => Promise<T>, terms?: WriteOptions): Promise<T>;
  /**
   * As `write`, but resolves when the transaction is committed. Then it survives a crash of this process; `durable`
   * resolves when it also survives a power failure. Use it if other work can continue before the change is durable.
   * Nothing may be acknowledged to a client before `durable` resolves.
   */
  commit<T>(unit: (tx: Transaction) => Promise<T>): Promise<Committed<T>>;
  /**
   * As `commit`, for writes that no client relies on: they become durable with the next durable write. A power failure
   * may lose the last of these writes. The unit is not isolated (see `WriteOptions`).
   */
  note(unit: (tx: Transaction) => Promise<unknown>): Promise<void>;
  /**
   * From now on, each unit fails with the StorageError `INSTANCE_ENDED` if this instance is no longer registered;
   * other instances have then taken over its work. An engine that only one process can use at a time does nothing.
   *
   * @param instance the number of this instance
   * @param place how many other instances were registered before this one; it determines the audit chains that this
   * instance begins with, so that concurrent instances use different chains
   */
  fence(instance: number, place: number): void;
  /**
   * Reads the clock of the database in milliseconds UTC. The processes that share the database compare times by this
   * clock; null if only one process can use the database. @throws StorageError
   */
  clock: (() => Promise<number>) | null;
  /**
   * Returns a number for the validation of caches. It changes soon after settings of environments or webhook endpoints
   * were changed; a cache must then read them again. The number may also change without a reason. It may stay the same
   * while the database cannot be reached, and an engine for one process does not notice changes by operator commands.
   * So cached values must also expire after some time.
   */
  settingsVersion(): number;
  /**
   * Returns a number that increases when a row that tool calls are planned with, such as an account or a connection,
   * may have changed. Call it before reading these rows, and pass the number to `insertPlanned`: if it is still the
   * same there, the versions of the rows need not be compared. null if other processes can change the rows without this
   * process noticing.
   */
  planChanges(): number | null;
  /** Whether reads and the latest writes succeed. Never rejects. */
  healthy(): Promise<boolean>;
  /** Returns which database is used, and how it is replicated. Never rejects. */
  state(): Promise<DatabaseState>;
  /**
   * If the latest writes have failed, tries a write to find out whether the database works again. Call it periodically.
   * Never rejects.
   */
  probe(): Promise<void>;
  /**
   * Combines the partial rows of each counter into one row. Call it periodically, in one process; null if the engine
   * keeps one row for each counter. @throws StorageError
   */
  fold: (() => Promise<void>) | null;
  /**
   * Returns the size of the write-ahead log in bytes; 0 if the database has none. The log grows while readers prevent
   * it from being emptied. @throws Error if the size cannot be read
   */
  logBytes(): Promise<number>;
  /**
   * Removes the remains of data that was deleted or replaced before this call from the database files. If it fails, no
   * stored data is at risk.
   *
   * @returns false while another process, or a long transaction of this one, reads or writes the database and so keeps
   * the deleted data: call it again later
   * @throws StorageError
   */
  scrub(): Promise<boolean>;
  /** Waits for the running writes, rejects new ones and closes the database. */
  close(): Promise<void>;
}

export interface WriteOptions {
  /**
   * False for a unit whose writes do not depend on its reads: each write names its row and the state that the row must
   * have. While this unit runs, other units may then change rows that it has read. So it does not conflict with units
   * that only read or write neighboring rows. Several units that are not isolated may share a transaction, so each
   * should be short. True by default.
   */
  isolated?: boolean;
}

/** The result of a committed unit: other reads see it, and it survives a crash of this process. */
export interface Committed<T> {
  value: T;
  /**
   * Resolves when the unit also survives a power failure. A rejection is already handled, so a caller need not await
   * it.
   */
  durable: Promise<void>;
}
