import { fileURLToPath } from 'node:url';
import { StorageError } from '../errors.ts';
import { type Applied, assertHistory, type Migration, numberOf, readMigrations } from '../migrations.ts';
import { translateError } from './errors.ts';
import type { Client } from './open.ts';

const DIRECTORY = fileURLToPath(new URL('./migrations', import.meta.url));

/** Reads the migrations of a directory (by default the project's), sorted by name, such as `0001_initial.sql`. */
export function loadMigrations(directory: string = DIRECTORY): Migration[] {
  return readMigrations(directory);
}

let newest: number | undefined;

/** Returns the number of the newest migration that this program knows. */
export function newestMigration(): number {
  newest ??= numberOf(loadMigrations().at(-1) as Migration);
  return newest;
}

/**
 * Applies all missing migrations. Each file is one IMMEDIATE transaction, which also determines whether the file must
 * be applied, so two processes that start together apply each file once. A new database gets all files in one
 * transaction, because each commit waits for the disk and there is nothing to keep.
 *
 * @param now milliseconds UTC
 * @returns the names of the applied migrations
 * @throws StorageError `MIGRATION_REFUSED` if an applied file was edited or is missing, or if a new one is sorted
 * before an applied one; `MIGRATION_FAILED` if a file fails or leaves a dangling reference, and then it is rolled back
 * completely; `SQLITE_BUSY` if another process is writing: run it again
 */
export function migrate(client: Client, now: () => number, files: Migration[] = loadMigrations()): string[] {
  client.exec(
    'create table if not exists migrations (name text primary key not null, sha256 text not null, applied_at integer not null) strict',
  );
  // A table can only be rebuilt without foreign key checks, and they cannot be turned off within a transaction.
  client.pragma('foreign_keys = off');
  try {
    const done: string[] = [];
    for (let names = step(client, now, files); names.length > 0; names = step(client, now, files)) done.push(...names);
    return done;
  } catch (error) {
    throw translateError(error);
  } finally {
    client.pragma('foreign_keys = on');
  }
}

/**
 * Checks that this version contains every migration that was applied to a database, unchanged and in the same order.
 * Changes nothing.
 *
 * @throws StorageError `MIGRATION_REFUSED`
 */
export function assertMigrations(client: Client, files: Migration[] = loadMigrations()): void {
  assertHistory(appliedTo(client), files);
}

/** Returns the files that are not applied, in order. */
function missingFrom(client: Client, files: Migration[]): Migration[] {
  const applied = appliedTo(client);
  assertHistory(applied, files);
  return files.slice(applied.length);
}

function appliedTo(client: Client): Applied[] {
  // Databases before the migration 0005 do not have the column readable_from, and this engine does not use it.
  return client.prepare('select name, sha256 from migrations order by name').all() as Applied[];
}

/**
 * Applies the next file, or all files to a new database. If there is none, no lock is taken.
 *
 * @returns the names of the applied files
 */
function step(client: Client, now: () => number, files: Migration[]): string[] {
  if (missingFrom(client, files).length === 0) return [];
  return client
    .transaction(() => {
      const missing = missingFrom(client, files);
      const isNew = missing.length === files.length;
      return (isNew ? missing : missing.slice(0, 1)).map((file) => {
        apply(client, file);
        client
          .prepare('insert into migrations (name, sha256, applied_at) values (?, ?, ?)')
          .run(file.name, file.sha256, now());
        return file.name;
      });
    })
    .immediate();
}

function apply(client: Client, file: Migration): void {
  try {
    client.exec(file.sql);
  } catch (cause) {
    const { message } = cause as Error;
    throw new StorageError('MIGRATION_FAILED', `the migration ${file.name} failed: ${message}`, { cause });
  }
  const dangling = client.pragma('foreign_key_check') as { table: string; parent: string }[];
  const first = dangling[0];
  if (first !== undefined) {
    const where = `${first.table} to ${first.parent}`;
    throw new StorageError('MIGRATION_FAILED', `the migration ${file.name} leaves a dangling reference from ${where}`);
  }
}
