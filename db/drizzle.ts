import { createRequire } from 'node:module';

// Loads the query builder as CommonJS: its hundred modules take 50 ms this way, but several hundred milliseconds as ES
// modules, which would be most of the start time. So no other file of db/ imports the package, except for its types.
//
// The builder has a module for each SQL dialect. This one is used for all engines: it builds the SQL that is the same
// in all dialects, and `Dialect` provides the rest.

const require = createRequire(import.meta.url);
const orm = require('drizzle-orm') as typeof import('drizzle-orm');
const core = require('drizzle-orm/sqlite-core') as typeof import('drizzle-orm/sqlite-core');

export const { and, asc, count, desc, eq, getTableColumns, gt, is, isNotNull, lte, ne, or, Param, Placeholder, sql } =
  orm;
/** The default method of columns that converts a value read from the database: it returns the value unchanged. */
export const showAsStored = orm.Column.prototype.mapFromDriverValue;
export const {
  BaseSQLiteDatabase: QueryBuilder,
  blob,
  customType,
  getTableConfig,
  index,
  integer,
  primaryKey,
  SQLiteAsyncDialect: QueryDialect,
  SQLiteSession: QuerySession,
  SQLiteTable: Table,
  sqliteTable: table,
  text,
  uniqueIndex,
} = core;

export type { Column, Query, SQL, SQLWrapper } from 'drizzle-orm';
export type {
  AnySQLiteColumn as AnyColumn,
  AnySQLiteTable as AnyTable,
  BaseSQLiteDatabase as Queries,
  IndexColumn,
  SQLitePreparedQuery as PreparedQuery,
} from 'drizzle-orm/sqlite-core';
