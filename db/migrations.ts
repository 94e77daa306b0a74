import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { StorageError } from './errors.ts';

export interface Migration {
  name: string;
  sql: string;
  /** Hexadecimal digest of the file. */
  sha256: string;
  /**
   * The number of the newest migration that a program must know to work with the database afterwards: the line
   * `-- readable-from: 0004`. Without it, a program must know this file.
   */
  readableFrom: number;
  /**
   * Whether it removes what earlier programs use, so that it is applied after they have ended: the line `-- contract`.
   */
  isContract: boolean;
  /**
   * False for a file with the line `-- no transaction`: its statements run one by one outside of a transaction, and can
   * be run again after an interruption.
   */
  isTransaction: boolean;
}

/** A row of the table `migrations`. */
export interface Applied {
  name: string;
  sha256: string;
  /**
   * The number of the newest migration that a program must know to work with the database after this one; null if it
   * is the number of this one.
   */
  readableFrom?: number | null;
}

/**
 * The name of a row of the table `migrations` which says that the database was copied to another one. It sorts after
 * the migrations, and is unknown to all programs, so none of them starts with the database.
 */
export const COPIED = 'copied';

const BEFORE_RELEASES =
  'it was created by a development version from before release 0.1.0. Set DATA_DIR to a new directory, start, and connect the accounts again';

/** Reads the migrations of a directory in the order of their names, such as `0001_initial.sql`. */
export function readMigrations(directory: string): Migration[] {
  return readdirSync(directory)
    .filter((name) => /^\d{4}_[a-z0-9_]+\.sql$/.test(name))
    .sort()
    .map((name) => {
      const sql = readFileSync(`${directory}/${name}`, 'utf8');
      return migrationOf(name, sql);
    });
}

/** Returns a migration; its options are lines of comments at the beginning of its text. */
export function migrationOf(name: string, sql: string): Migration {
  const head = /^(--.*\n)*/.exec(sql)?.[0] ?? '';
  const readableFrom = /^-- readable-from: (\d{4})$/m.exec(head)?.[1];
  return {
    name,
    sql,
    sha256: createHash('sha256').update(sql).digest('hex'),
    readableFrom: readableFrom === undefined ? numberOf({ name }) : Number(readableFrom),
    isContract: /^-- contract$/m.test(head),
    isTransaction: !/^-- no transaction$/m.test(head),
  };
}

/** Returns the number at the beginning of a migration's name. */
export function numberOf({ name }: { name: string }): number {
  return Number(name.slice(0, 4));
}

/**
 * Checks that the applied migrations are the first ones of the files, with the same names and content. Newer ones that
 * this program can work with may follow them.
 *
 * @throws StorageError `MIGRATION_REFUSED`; `DATABASE_COPIED` if servers use a copy of the database instead
 */
export function assertHistory(applied: readonly Applied[], files: readonly Migration[]): void {
  if (applied.some(({ name }) => name === COPIED)) throw copied();
  if (isOfNoRelease(applied[0], files[0])) throw refused(BEFORE_RELEASES);
  const byName = new Map(files.map((file) => [file.name, file]));
  for (const [place, row] of applied.entries()) {
    const file = byName.get(row.name);
    if (file === undefined && isReadable(row, files)) continue;
    if (file === undefined)
      throw refused(`this program lacks the migration ${row.name}, which was applied: use a newer version of Valetkey`);
    if (file.sha256 !== row.sha256)
      throw refused(
        `the migration ${row.name} was changed after it had been applied: use an unmodified release of Valetkey`,
      );
    const expected = files[place];
    if (expected?.name !== row.name)
      throw refused(
        `the migration ${expected?.name} sorts before ${row.name}, which was already applied: use an unmodified release of Valetkey`,
      );
  }
}

/** Whether a program with these files can work with a database after a newer migration. */
function isReadable({ name, readableFrom }: Applied, files: readonly Migration[]): boolean {
  const newest = files.at(-1);
  if (newest === undefined || name < newest.name) return false;
  return typeof readableFrom === 'number' && readableFrom <= numberOf(newest);
}

function copied(): StorageError {
  return new StorageError(
    'DATABASE_COPIED',
    'the data was copied to another database by `valetkey db copy`: set DATABASE_URL to that one. To use this one again, ' +
      'without the changes that were made since, run `valetkey accept-loss`',
  );
}

/**
 * The first migration is the schema of the first release and never changes, so a database with another first migration
 * is older than that release.
 */
function isOfNoRelease(first: Applied | undefined, initial: Migration | undefined): boolean {
  return first !== undefined && (first.name !== initial?.name || first.sha256 !== initial.sha256);
}

function refused(reason: string): StorageError {
  return new StorageError('MIGRATION_REFUSED', `the database cannot be migrated: ${reason}`);
}
