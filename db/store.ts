import type { ReadRepositories, Transaction } from './repositories.ts';

export type { AccountReads, AccountRepository } from './accounts/repository.ts';
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
export type * from './rows/json-object.ts';
export type * from './rows/key-rotation.ts';
export type * from './rows/mcp-configs.ts';
export type * from './rows/outbox.ts';
export type * from './rows/refresh-leases.ts';
export type * from './rows/stored-contents.ts';
export { holdInstanceLock, type InstanceLock } from './sqlite/instance-lock.ts';
export { openStore, type StoreOptions, type StoreWatch } from './sqlite/store.ts';

export interface Store {
  /** What is committed, and nothing else. */
  readonly read: ReadRepositories;
  /**
   * Lets all reads of this turn of the event loop see one state, which costs less than one each. For whoever has just been called
   * with something new from outside, such as a request: nothing can have been committed elsewhere that the caller knows of and this
   * state lacks. Never throws; if no snapshot can be opened, each read fails on its own.
   */
  shareReads(): void;
  /**
   * Runs a unit of work in a transaction and resolves with its result once that is durable. A unit that throws is undone, and its
   * error is the rejection. It may await nothing but the functions of its `tx`: fetch first, write then. Inside of it read through
   * `tx` as well, since `read` shows what was committed before.
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
   * As `commit`, for what nobody is told of: it becomes durable with the next write that asks for it. A loss of power may take back
   * the last of them, so only for what can be missing.
   */
  note(unit: (tx: Transaction) => Promise<unknown>): Promise<void>;
  /** Whether reads work, and the last writes did. */
  healthy(): boolean;
  /** Makes a write where the last ones failed, to find out whether they work again. Call it at intervals. Never rejects. */
  probe(): Promise<void>;
  /**
   * Removes from the files what was deleted or replaced before this call: moves the log into the main file and cuts it to zero bytes.
   * What it moves is durable already, so a failure loses nothing.
   *
   * @returns false while another process, or a long transaction of this one, reads or writes the database and so keeps the log: call it
   *   again later
   * @throws StorageError
   */
  scrub(): Promise<boolean>;
  /** Waits for the writes under way, refuses new ones, closes the file. */
  close(): Promise<void>;
}

/** The result of a unit that is committed: others see it, and it outlives this process. */
export interface Committed<T> {
  value: T;
  /** Settles once it outlives a loss of power as well. Its rejection is handled already, so a caller need not wait for it. */
  durable: Promise<void>;
}
