import type { Store, StoreOptions } from '../../db/store.ts';

/** Options of the store. A test of one engine may add options of that engine. */
export type TestOptions = Partial<Omit<StoreOptions, 'location'>> & Record<string, unknown>;

/** An empty database for one test, with functions that tests need besides the store. Each engine implements it. */
export interface TestDatabase {
  /** Where the database is: the path of the file, or the address of the server. */
  readonly location: string;
  /** Opens a store on the database. Several stores may be open at the same time. */
  open(options?: TestOptions): Promise<Store>;
  /** Runs statements directly on the database, as an operator with access to it can. */
  run(statements: string): void;
  /** As `run`, after removing the triggers that protect rows of the audit log. */
  tamperWithAudit(statements: string): void;
  /** All rows, by name of their table. Each engine leaves out some of its internal tables. */
  dump(): Record<string, unknown[]>;
  /** @throws Error if the search index does not contain exactly the stored accounts */
  checkSearchIndex(): void;
  /** Removes the database. Its stores must be closed. */
  remove(): void;
}
