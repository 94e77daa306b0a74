import { fileURLToPath } from 'node:url';
import { StorageError } from '../errors.ts';
import { type Applied, assertHistory, type Migration, readMigrations } from '../migrations.ts';
import { translateError } from './errors.ts';
import type { Client } from './open.ts';

const DIRECTORY = fileURLToPath(new URL('./migrations', import.meta.url));

/** Reads the migrations of a directory (default: ours) in the order of their names, such as `0001_initial.sql`. */
export function loadMigrations(directory: string = DIRECTORY): Migration[] {
  return readMigrations(directory);
}

/**
 * Brings a database to the newest migration. Each file is one IMMEDIATE transaction, and what is left to do is judged inside of
 * it, so two processes that start together apply each file once.
 *
 * @param now milliseconds UTC
 * @returns the names that were applied
 * @throws StorageError `MIGRATION_REFUSED` when an applied file was edited or is missing, or when a new one sorts before an
 *   applied one; `MIGRATION_FAILED` when a file fails or leaves a dangling reference, and then nothing of it remains;
 *   `SQLITE_BUSY` when another process is writing: run it again
 */
export function migrate(client: Client, now: () => number, files: Migration[] = loadMigrations()): string[] {
  client.exec(
    'create table if not exists migrations (name text primary key not null, sha256 text not null, applied_at integer not null) strict',
  );
  // Rebuilding a table needs this off, and inside of a transaction it cannot be changed.
  client.pragma('foreign_keys = off');
  try {
    const done: string[] = [];
    for (let next = step(client, now, files); next !== undefined; next = step(client, now, files)) done.push(next);
    return done;
  } catch (error) {
    throw translateError(error);
  } finally {
    client.pragma('foreign_keys = on');
  }
}

/**
 * Checks that this program knows every migration of a database, and changes nothing.
 *
 * @throws StorageError `MIGRATION_REFUSED`
 */
export function assertMigrations(client: Client, files: Migration[] = loadMigrations()): void {
  assertHistory(appliedTo(client), files);
}

/** The first file that is still to be applied. */
function nextFile(client: Client, files: Migration[]): Migration | undefined {
  const applied = appliedTo(client);
  assertHistory(applied, files);
  return files[applied.length];
}

function appliedTo(client: Client): Applied[] {
  return client.prepare('select name, sha256 from migrations order by name').all() as Applied[];
}

/** Applies the next file, and names it. Where there is none, no lock is taken. */
function step(client: Client, now: () => number, files: Migration[]): string | undefined {
  if (nextFile(client, files) === undefined) return undefined;
  return client
    .transaction(() => {
      const file = nextFile(client, files);
      if (file === undefined) return undefined;
      apply(client, file);
      client
        .prepare('insert into migrations (name, sha256, applied_at) values (?, ?, ?)')
        .run(file.name, file.sha256, now());
      return file.name;
    })
    .immediate();
}

function apply(client: Client, file: Migration): void {
  try {
    client.exec(file.sql);
  } catch (cause) {
    throw new StorageError('MIGRATION_FAILED', `the migration ${file.name} failed`, { cause });
  }
  const dangling = client.pragma('foreign_key_check') as { table: string; parent: string }[];
  const first = dangling[0];
  if (first !== undefined) {
    const where = `${first.table} to ${first.parent}`;
    throw new StorageError('MIGRATION_FAILED', `the migration ${file.name} leaves a dangling reference from ${where}`);
  }
}
