import type { CopySource, CopyTarget } from './copy/port.ts';
import type { DatabaseFiles } from './database-files.ts';
import type { SliceLimits } from './slices.ts';
import type { HealthWatch } from './storage-health.ts';
import type { Store } from './store-port.ts';

/**
 * A kind of database. Code outside of an engine's folder must not depend on the engine in use. An engine implements
 * this interface, creates the repositories of `repositories.ts` with its own `Connection`, and is added to `engineFor`.
 */
export interface Engine {
  /**
   * Opens the store; creates the database if the engine can do so.
   *
   * @throws StorageError if the database is not usable, lacks data, or has a schema that this version does not support
   */
  open(options: StoreOptions): Promise<Store>;
  /**
   * Acquires the right to serve the database. If the engine supports several servers at a time, each of them gets it.
   *
   * @throws StorageError `DATABASE_IN_USE` if another server still has it after the waiting time
   */
  hold(location: string, terms?: HoldOptions): Promise<Hold>;
  /**
   * Runs `work`, which creates everything that servers need in an empty database. Only one process at a time runs such
   * work on a database.
   */
  withSetupLock<T>(location: string, work: () => Promise<T>): Promise<T>;
  /**
   * Applies missing migrations, for operators; null if `open` does so itself.
   *
   * @param now milliseconds UTC
   * @returns the names of the migrations that were applied
   * @throws StorageError
   */
  migrate: ((location: string, now: () => number, options?: MigrateOptions) => Promise<string[]>) | null;
  /**
   * Checks a database and the settings of its server for operators, without changing anything; null if `open` does so.
   *
   * @throws StorageError if the server cannot be reached
   */
  check: ((location: string, terms: ConnectionOptions & { now: () => number }) => Promise<CheckLine[]>) | null;
  /**
   * Whether several processes can use the database at the same time. If so, a server creates no keys and no environment
   * at its start; `valetkey init` creates them.
   */
  isShared: boolean;
  /**
   * Opens a database whose rows are copied to a database of another kind. No server may use it during the copy.
   *
   * @throws StorageError `DATABASE_IN_USE`, `DATABASE_MISSING`, `SCHEMA_MISSING`
   */
  copySource(location: string): Promise<CopySource>;
  /**
   * Opens an empty database to which the rows of another one are copied.
   *
   * @param now milliseconds UTC
   * @throws StorageError `TARGET_NOT_EMPTY`, `DATABASE_IN_USE`, `SCHEMA_MISSING`
   */
  copyTarget(location: string, now: () => number): Promise<CopyTarget>;
  /**
   * Allows servers to start again with a database that was copied to another one. @returns false if it was not copied
   */
  reopen(location: string): Promise<boolean>;
  /** The operator commands for database files; null for a database that is not a file and has its own tools. */
  files: DatabaseFiles | null;
}

/** The result of one check of a database. */
export interface CheckLine {
  /** The subject of the check, such as `clock`. */
  name: string;
  state: 'ok' | 'warn' | 'fail';
  /** The finding, for people. */
  found: string;
}

export interface MigrateOptions {
  /** `expand`: only the migrations with which servers of the previous version can work; by default all. */
  until?: 'expand' | undefined;
  /** Receives messages about what the migration is waiting for. */
  report?: (message: string) => void;
}

export interface StoreOptions {
  /** The location of the database: the path of a file, or the address of a server, `postgres://…`. */
  location: string;
  /** Milliseconds UTC. */
  now: () => number;
  /** The limits of the statements that read long lists; by default `LIST` of core/budgets.ts, adapted by the engine. */
  listLimits?: SliceLimits | undefined;
  watch?: StoreWatch | undefined;
  /** Only for a database on a server. */
  connections?: ConnectionOptions | undefined;
}

export interface ConnectionOptions {
  /** The maximum number of this process's connections for reads, and for writes. */
  readers?: number | undefined;
  writers?: number | undefined;
  /** False if there is a connection pool before the server that does not support prepared statements. */
  prepare?: boolean | undefined;
  /** The address of a standby from which the lists of accounts, executions and audit records are read. */
  replica?: string | undefined;
  /**
   * The address of the server itself, not of a connection pool, for the connection that receives notifications of
   * changed settings; by default the location.
   */
  listen?: string | undefined;
}

export interface StoreWatch extends HealthWatch {
  /** Receives failures that no caller waits for. By default they are emitted as warnings of the process. */
  report?: ((error: unknown, what: string) => void) | undefined;
}

export interface HoldOptions {
  /** Called once if another server has the right. */
  onWait?: () => void;
  /**
   * How long to wait for another server to end, in milliseconds; 0 to fail immediately. By default
   * `INSTANCE.lockWaitMs`.
   */
  waitMs?: number;
}

/** The right to serve a database; held until `release`. */
export interface Hold {
  /**
   * Checks that this process still has the right. If an operator has deleted the lock file, it is created and locked
   * again. Call it periodically.
   *
   * @throws StorageError `DATABASE_IN_USE` if another server has it
   */
  check(): void;
  release(): Promise<void>;
}
