import type { ReadRepositories } from '../repositories.ts';

/** Values of columns, in their order: numbers, texts, bytes and null. */
export type StoredRow = readonly unknown[];

/** One of the two databases of a copy: the source or the target. No other process can write to it. */
export interface CopyEnd {
  readonly read: ReadRepositories;
  /** The applied migrations, in their order. */
  migrations(): Promise<string[]>;
  /** The names of the columns of a table, sorted, without those that are computed. */
  columns(table: string): Promise<string[]>;
  /** Returns how many rows of a table are to be copied. */
  count(table: string): Promise<number>;
  /** Reads the rows of a table that are to be copied, in batches. */
  rows(table: string, columns: readonly string[]): AsyncIterable<StoredRow[]>;
}

/**
 * The last numbers that were assigned to rows, so that the copy assigns higher ones. A `seq` also contains the ordinal
 * of its environment; these numbers do not.
 */
export interface LastNumbers {
  accounts: number;
  executions: number;
  instances: number;
}

export interface CopySource extends CopyEnd {
  /** Returns the tables that are neither copied nor computed from copied tables. */
  unknownTables(): Promise<string[]>;
  lastNumbers(): Promise<LastNumbers>;
  /** Durably marks the database as copied, so that no server starts with it, and ends the transaction that locks it. */
  retire(at: number): Promise<void>;
  /** Removes the mark of `retire`, unless an earlier copy has set it. */
  reopen(): Promise<void>;
  /** Releases all locks. A database that was not retired is unchanged. */
  close(): Promise<void>;
}

export interface CopyTarget extends CopyEnd {
  insert(table: string, columns: readonly string[], rows: readonly StoredRow[]): Promise<void>;
  /** Fills the tables that are computed from the copied ones, and sets the next numbers. */
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
