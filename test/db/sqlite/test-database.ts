import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { openSqliteStore } from '../../../db/sqlite/store.ts';
import { writeMigratedDatabase } from '../../support/migrated-database.ts';
import type { TestDatabase } from '../test-database.ts';

const NOW = 1_750_000_000_000;

/** A database file in its own directory. */
export function createSqliteTestDatabase(): TestDatabase {
  const directory = mkdtempSync(join(tmpdir(), 'valetkey-db-'));
  const path = join(directory, 'test.db');
  writeMigratedDatabase(path);
  const withClient = <T>(use: (client: Database.Database) => T): T => {
    const client = new Database(path);
    try {
      return use(client);
    } finally {
      client.close();
    }
  };
  const run = (statements: string) => withClient((client) => void client.exec(statements));
  return {
    location: path,
    open: (options = {}) => openSqliteStore({ path, now: () => NOW, ...options }),
    run,
    tamperWithAudit: (statements) => run(`drop trigger audit_log_final; ${statements}`),
    dump: () => withClient(dump),
    checkSearchIndex: () => run("insert into accounts_search (accounts_search, rank) values ('integrity-check', 1)"),
    remove: () => rmSync(directory, { recursive: true, force: true }),
  };
}

/** The tables of the search index are left out: their bytes depend on the order of writes. */
function dump(client: Database.Database): Record<string, unknown[]> {
  const tables = client
    .prepare("select name from sqlite_schema where type = 'table' and name not like 'accounts_search%'")
    .pluck()
    .all() as string[];
  return Object.fromEntries(tables.map((table) => [table, client.prepare(`select * from ${table}`).all()]));
}
