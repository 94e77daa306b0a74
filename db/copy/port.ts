import type { ReadRepositories } from '../repositories.ts';

/** Values of columns, in their order: numbers, texts, bytes and null. */
export type StoredRow = readonly unknown[];

/** A database that is copied, or the one that is being filled. No other process can write to it. */
export interface CopyEnd {
  readonly read: ReadRepositories;
  /** The applied migrations, in their order. */
  migrations(): Promise<string[]>;
  /** The names of the columns of a table, sorted, without those that are computed. */
  columns(table: string): Promise<string[]>;
  /** Returns how many rows of a table are copied. */
  count(table: string): Promise<number>;
  /** Reads the rows of a table that are copied, in batches. */
  rows(table: string, columns: readonly string[]): AsyncIterable<StoredRow[]>;
}

/** The last numbers that were given out, without the ordinal of the environment. They are never given out again. */
export interface LastNumbers {
  accounts: number;
  executions: number;
  instances: number;
}

export interface CopySource extends CopyEnd {
  /** Returns the tables that are neither copied nor computed from copied tables. */
  unknownTables(): Promise<string[]>;
  lastNumbers(): Promise<LastNumbers>;
  /** Durably prevents servers from starting with the database, and lets other processes use it again. */
  retire(at: number): Promise<void>;
  /** Allows servers to start with it again. */
  reopen(): Promise<void>;
  /** Lets other processes use it again; does nothing after `retire`. */
  close(): Promise<void>;
}

export interface CopyTarget extends CopyEnd {
  insert(table: string, columns: readonly string[], rows: readonly StoredRow[]): Promise<void>;
  /** Fills the tables that follow from the copied ones, and sets the next numbers. */
  complete(last: LastNumbers): Promise<void>;
  /**
   * Makes the copy durable and usable. Until then it does not exist for other processes.
   *
   * @throws StorageError `OUTCOME_UNKNOWN` if it may have become usable
   */
  finish(): Promise<void>;
  /** Removes everything that was written, unless it was finished. */
  close(): Promise<void>;
}
