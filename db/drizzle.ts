import { createRequire } from 'node:module';

// The query builder, loaded as CommonJS: its hundred modules take 50 ms that way and several hundred as ES modules, which is most
// of the time of a start. So no other file of db/ imports the package but for its types.
//
// The builder has one module for each SQL dialect, and this one serves all engines: what the dialects write in the same way is built
// here, and `Dialect` has the rest.

const require = createRequire(import.meta.url);
const orm = require('drizzle-orm') as typeof import('drizzle-orm');
const core = require('drizzle-orm/sqlite-core') as typeof import('drizzle-orm/sqlite-core');

export const { and, asc, count, desc, eq, getTableColumns, gt, is, isNotNull, lte, ne, Param, Placeholder, sql } = orm;
/** What a column does that shows its values as they are stored. */
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
