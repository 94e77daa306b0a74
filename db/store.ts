import type { ReadRepositories, Transaction } from './repositories.ts';

export type { AccountReads, AccountRepository } from './accounts/repository.ts';
export type { AuditChain } from './audit-heads.ts';
export type { BackupRequest, DatabaseFiles, Manifest, Target } from './database-files.ts';
export { type Engine, engineFor, type Hold, openStore, type StoreOptions, type StoreWatch } from './engine.ts';
export { type EnvironmentId, environmentId } from './environment-id.ts';
export { contentHash } from './environment-tools.ts';
export { RelationError, RetryableError, StorageError, UniqueError } from './errors.ts';
export type { Page, PageRequest, Total } from './page.ts';
export type { ReadRepositories, Repositories, Transaction } from './repositories.ts';
export type * from './rows/accounts.ts';
export type * from './rows/api-clients.ts';
export type * from './rows/audit.ts';
export type * from './rows/auth-flows.ts';
export type * from './rows/auth-requests.ts';
export type * from './rows/connections.ts';
export type * from './rows/custom-providers.ts';
export type * from './rows/deployment-secrets.ts';
export type * from './rows/environment-tools.ts';
export type * from './rows/environments.ts';
export type * from './rows/executions.ts';
export type * from './rows/idempotency-keys.ts';
export type * from './rows/instances.ts';
export type * from './rows/job-queue.ts';
export type * from './rows/jobs.ts';
export type * from './rows/json-object.ts';
export type * from './rows/key-rotation.ts';
export type * from './rows/mcp-configs.ts';
export type * from './rows/periodic-jobs.ts';
export type * from './rows/refresh-leases.ts';
export type * from './rows/stored-contents.ts';

/** The storage of a deployment. Any of its functions may take several turns of the event loop, so each returns a promise. */
export interface Store {
  /** What is committed, and nothing else. */
  readonly read: ReadRepositories;
  /**
   * Lets the reads that are called in this turn of the event loop see one state, which costs less than one state each. For code that was
   * just called with something new from outside, such as a request: what its client knows to be committed is in that state. An engine for
   * which this saves nothing does nothing.
   *
   * @returns a promise that need not be awaited: a read that is called later takes part already, and it never rejects
   */
  shareReads(): Promise<void>;
  /**
   * Runs a unit of work in a transaction and resolves with its result once that is durable. A unit that throws is undone, and its error
   * is the rejection. A unit may await nothing but the functions of its `tx`: fetch first, then write. Inside of it read through `tx` as
   * well, since `read` shows what was committed before. A unit may run more than once, so it has no effect but through its `tx`. A unit
   * whose write fails, also with a UniqueError, must fail as well: an engine may undo all of it.
   *
   * @throws StorageError when the transaction is lost as a whole, or the store is closed or has failed
   */
  write<T>(unit: (tx: Transaction) => Promise<T>): Promise<T>;
  /**
   * As `write`, but resolves when the transaction is committed: it outlives this process then, and `durable` settles once it outlives
   * a loss of power. For work that can go on meanwhile; nothing may be acknowledged before.
   */
  commit<T>(unit: (tx: Transaction) => Promise<T>): Promise<Committed<T>>;
  /**
   * As `commit`, for what no client is told of: it becomes durable with the next write that asks for it. A loss of power may take back
   * the last of them, so only for what can be missing.
   */
  note(unit: (tx: Transaction) => Promise<unknown>): Promise<void>;
  /** Whether reads work, and the last writes did. Never rejects. */
  healthy(): Promise<boolean>;
  /** Makes a write where the last ones failed, to find out whether they work again. Call it at intervals. Never rejects. */
  probe(): Promise<void>;
  /** The size of the log that a reader can keep from being emptied; 0 where the database has none. @throws Error when it cannot be read */
  logBytes(): Promise<number>;
  /**
   * Removes from the files what was deleted or replaced before this call. Nothing that is durable is at risk when it fails.
   *
   * @returns false while another process, or a long transaction of this one, reads or writes the database and so keeps the deleted data:
   *   call it again later
   * @throws StorageError
   */
  scrub(): Promise<boolean>;
  /** Waits for the writes under way, refuses new ones, closes the database. */
  close(): Promise<void>;
}

/** The result of a unit that is committed: others see it, and it outlives this process. */
export interface Committed<T> {
  value: T;
  /** Settles once it outlives a loss of power as well. Its rejection is handled already, so a caller need not wait for it. */
  durable: Promise<void>;
}
