import { createHash } from 'node:crypto';
import {
  canPrepare,
  createDatabase,
  databaseExists,
  directUrlOf,
  dropDatabase,
  isPooled,
  urlOf,
} from './postgres/databases.ts';

/** Whether test servers use PostgreSQL. `VALETKEY_TEST_ENGINE` selects the engine. */
export function isOnServer(): boolean {
  return process.env['VALETKEY_TEST_ENGINE'] === 'postgres';
}

export interface DatabaseOfDirectory {
  /** The settings with which a server of this data directory finds its database. */
  env: Record<string, string>;
  remove(): void;
}

/** Returns the name of the database for a data directory, on the PostgreSQL server of the tests. */
export function nameOfDatabase(directory: string): string {
  return `test_${createHash('sha256').update(directory).digest('hex').slice(0, 16)}`;
}

/** Returns the database for a data directory: a file in it, or a database on the PostgreSQL server of the tests. */
export function databaseOfDirectory(directory: string): DatabaseOfDirectory {
  if (!isOnServer()) return { env: {}, remove: () => {} };
  const name = nameOfDatabase(directory);
  if (!databaseExists(name)) createDatabase(name);
  const pooled = isPooled() && {
    DATABASE_PREPARE: canPrepare() ? 'on' : 'off',
    DATABASE_LISTEN_URL: directUrlOf(name),
  };
  const env = { DATABASE_URL: urlOf(name), ...pooled };
  return { env, remove: () => dropDatabase(name) };
}

/**
 * Copies the PostgreSQL database of a data directory for another directory, while no server uses it. With SQLite it
 * does nothing: the caller copies the database file together with the directory.
 */
export function copyDatabaseOfDirectory(from: string, to: string): void {
  if (isOnServer()) createDatabase(nameOfDatabase(to), nameOfDatabase(from));
}
