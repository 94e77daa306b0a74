import type { Store, StoreOptions } from '../../db/store.ts';
import { createPostgresTestDatabase } from './postgres/test-database.ts';
import { createSqliteTestDatabase } from './sqlite/test-database.ts';

/** Options of the store. A test of one engine may add options of that engine. */
export type TestOptions = Partial<Omit<StoreOptions, 'location'>> & Record<string, unknown>;

/** An empty database for one test, and what a test needs of it beside the store. Each engine has one. */
export interface TestDatabase {
  /** Where the database is: the path of the file, or the address of the server. */
  readonly location: string;
  /** Opens a store on the database. Several may be open at the same time. */
  open(options?: TestOptions): Promise<Store>;
  /** Runs statements past the store, as an operator with access to the database can. */
  run(statements: string): void;
  /** As `run`, after removing what keeps rows of the audit log from being changed. */
  tamperWithAudit(statements: string): void;
  /** Every row of every table, by name of the table. */
  dump(): Record<string, unknown[]>;
  /** @throws Error when the search index does not hold exactly the accounts that are stored */
  checkSearchIndex(): void;
  /** Removes the database; its stores are closed. */
  remove(): void;
}

const ENGINES: Record<string, () => TestDatabase> = {
  sqlite: createSqliteTestDatabase,
  postgres: createPostgresTestDatabase,
};

/** The engine that the conformance suite judges is chosen by `VALETKEY_TEST_ENGINE`; SQLite by default. */
export function createTestDatabase(): TestDatabase {
  const name = process.env['VALETKEY_TEST_ENGINE'] ?? 'sqlite';
  const create = ENGINES[name];
  if (!create) throw new Error(`unknown VALETKEY_TEST_ENGINE ${name} (known: ${Object.keys(ENGINES).join(', ')})`);
  return create();
}
