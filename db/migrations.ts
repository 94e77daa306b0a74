import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { StorageError } from './errors.ts';

export interface Migration {
  name: string;
  sql: string;
  /** Hexadecimal digest of the file. */
  sha256: string;
}

/** A row of the table `migrations`. */
export interface Applied {
  name: string;
  sha256: string;
}

const BEFORE_RELEASES =
  'it was created by a development version from before release 0.1.0. Set DATA_DIR to a new directory, start, and connect the accounts again';

/** Reads the migrations of a directory in the order of their names, such as `0001_initial.sql`. */
export function readMigrations(directory: string): Migration[] {
  return readdirSync(directory)
    .filter((name) => /^\d{4}_[a-z0-9_]+\.sql$/.test(name))
    .sort()
    .map((name) => {
      const sql = readFileSync(`${directory}/${name}`, 'utf8');
      return { name, sql, sha256: createHash('sha256').update(sql).digest('hex') };
    });
}

/**
 * Checks that the applied migrations are the first ones of the files, with the same names and content.
 *
 * @throws StorageError `MIGRATION_REFUSED`
 */
export function assertHistory(applied: readonly Applied[], files: readonly Migration[]): void {
  if (isOfNoRelease(applied[0], files[0])) throw refused(BEFORE_RELEASES);
  const byName = new Map(files.map((file) => [file.name, file]));
  for (const [place, row] of applied.entries()) {
    const file = byName.get(row.name);
    if (file === undefined)
      throw refused(`${row.name} was applied, but is missing: this program is older than its data`);
    if (file.sha256 !== row.sha256) throw refused(`${row.name} was edited after it had been applied`);
    const expected = files[place];
    if (expected?.name !== row.name) throw refused(`${expected?.name} sorts before ${row.name}, which was applied`);
  }
}

/** The first migration is the schema of the first release and never changes, so a database that began otherwise is older. */
function isOfNoRelease(first: Applied | undefined, initial: Migration | undefined): boolean {
  return first !== undefined && (first.name !== initial?.name || first.sha256 !== initial.sha256);
}

function refused(reason: string): StorageError {
  return new StorageError('MIGRATION_REFUSED', `the database cannot be migrated: ${reason}`);
}
