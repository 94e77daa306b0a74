import { createHash } from 'node:crypto';
import { createDatabase, databaseExists, dropDatabase, urlOf } from './postgres/databases.ts';

/** Whether servers of tests use PostgreSQL: `VALETKEY_TEST_ENGINE` chooses the engine. */
export function isOnServer(): boolean {
  return process.env['VALETKEY_TEST_ENGINE'] === 'postgres';
}

export interface DatabaseOfDirectory {
  /** Settings with which a server of this data directory finds its database. */
  env: Record<string, string>;
  remove(): void;
}

/** The name of the database on the server of the tests that servers of a data directory use. */
export function nameOfDatabase(directory: string): string {
  return `test_${createHash('sha256').update(directory).digest('hex').slice(0, 16)}`;
}

/** The database of the servers of a data directory: a file in it, or a database of that directory on the server of the tests. */
export function databaseOfDirectory(directory: string): DatabaseOfDirectory {
  if (!isOnServer()) return { env: {}, remove: () => {} };
  const name = nameOfDatabase(directory);
  if (!databaseExists(name)) createDatabase(name);
  return { env: { DATABASE_URL: urlOf(name) }, remove: () => dropDatabase(name) };
}
