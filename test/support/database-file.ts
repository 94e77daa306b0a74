import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { changeIn, dumpOf, selectFrom } from './postgres/rows.ts';
import type { TestServer } from './server.ts';
import { isOnServer, nameOfDatabase } from './test-engine.ts';

/**
 * Every row of the tables that tests compare, by table. Tables whose rows follow from those of other tables, such as
 * the search index, are left out.
 */
export type DatabaseDump = Record<string, Record<string, unknown>[]>;

/** Reads the database of a running server with a separate connection, which sees only committed data. */
export function dumpDatabase(server: TestServer): DatabaseDump {
  // The server itself records in these tables when its periodic jobs ran, and that it is running.
  const ownTables = ['periodic_jobs', 'instances'];
  const { databaseFile } = server.parts.config;
  if (isOnServer()) {
    const rows = Object.entries(dumpOf(nameOfDatabase(dirname(databaseFile))));
    return Object.fromEntries(rows.filter(([table]) => !ownTables.includes(table)));
  }
  const db = new Database(databaseFile, { readonly: true });
  try {
    const tables = db
      .prepare(`select name from sqlite_schema where type = 'table' and name not like 'accounts_search%' order by name`)
      .pluck()
      .all() as string[];
    return Object.fromEntries(
      tables
        .filter((table) => !ownTables.includes(table))
        .map((table) => [table, db.prepare(`select * from "${table}"`).all()]),
    ) as DatabaseDump;
  } finally {
    db.close();
  }
}

/** Returns the part of a dump that belongs to one environment. */
export function rowsOf(dump: DatabaseDump, environmentId: string): DatabaseDump {
  const own = Object.entries(dump).map(([table, rows]) => [
    table,
    rows.filter((row) => row['environment_id'] === environmentId),
  ]);
  return Object.fromEntries(own);
}

/**
 * Changes the database directly, as an attacker with write access to the file could. @returns the number of changed
 * rows
 */
export function tamper(databaseFile: string, statement: string, ...values: unknown[]): number {
  if (isOnServer()) return changeIn(nameOfDatabase(dirname(databaseFile)), statement, values);
  const db = new Database(databaseFile, { fileMustExist: true });
  try {
    db.pragma('foreign_keys = off');
    return db.prepare(statement).run(...values).changes;
  } finally {
    db.close();
  }
}

/** Reads rows of a database file, of a running server or of a stopped one. */
export function selectRows(databaseFile: string, statement: string, ...values: unknown[]): Record<string, unknown>[] {
  if (isOnServer()) return selectFrom(nameOfDatabase(dirname(databaseFile)), statement, values);
  const db = new Database(databaseFile, { fileMustExist: true, readonly: true });
  try {
    return db.prepare(statement).all(...values) as Record<string, unknown>[];
  } finally {
    db.close();
  }
}
