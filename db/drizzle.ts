import { createRequire } from 'node:module';

// The query builder, loaded as CommonJS: its hundred modules take 50 ms that way and several hundred as ES modules, which is most
// of what a start may take. So nothing else of the room imports the package but for its types.

const require = createRequire(import.meta.url);
const orm = require('drizzle-orm') as typeof import('drizzle-orm');
const core = require('drizzle-orm/sqlite-core') as typeof import('drizzle-orm/sqlite-core');

export const { drizzle } = require('drizzle-orm/better-sqlite3') as typeof import('drizzle-orm/better-sqlite3');
export const { and, asc, count, desc, eq, getTableColumns, gt, is, isNotNull, lte, ne, Param, Placeholder, sql } = orm;
/** What a column does that shows its values as they are stored. */
export const showAsStored = orm.Column.prototype.mapFromDriverValue;
export const {
  blob,
  customType,
  getTableConfig,
  index,
  integer,
  primaryKey,
  SQLiteTable,
  sqliteTable,
  text,
  uniqueIndex,
} = core;

export type { Column, SQL, SQLWrapper } from 'drizzle-orm';
