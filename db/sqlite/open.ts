import { closeSync, existsSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { STORAGE } from '../../core/budgets.ts';
import { makeDirectory } from '../directory.ts';
import { StorageError } from '../errors.ts';

export type Client = Database.Database;

/** The two connections of a store: everything is written through one of them, and read, where no transaction is open, through the other. */
export interface Connections {
  writer: Client;
  reader: Client;
}

export interface OpenOptions {
  /** Files up to this size in bytes are checked page by page at every start (default 16 MiB, about 0.05 s). */
  checkUpTo?: number;
}

/** Older versions lose or corrupt data when a checkpoint of the WAL meets a writer at the wrong moment. */
const OLDEST_SQLITE = [3, 51, 3] as const;

/**
 * The settings of each connection and the values that must read back. `synchronous` comes after `journal_mode`, which the driver
 * accompanies with NORMAL. `busy_timeout` is 0: SQLite would wait for a lock on the event loop. Who meets one tries again
 * later (`busy.ts`).
 */
const PRAGMAS: [name: string, set: string, expected: string | number][] = [
  ['busy_timeout', '0', 0],
  ['journal_mode', 'wal', 'wal'],
  ['synchronous', 'full', 2],
  ['foreign_keys', 'on', 1],
  ['secure_delete', 'on', 1],
  ['trusted_schema', 'off', 0],
  ['cell_size_check', 'on', 1],
  ['mmap_size', '0', 0],
  // Savepoints keep the pages they change aside; on disk that is two writes for each, and content outside of the database file.
  ['temp_store', 'memory', 2],
];

/**
 * Pages that a connection keeps, in KiB; nothing is taken before it is needed. What is read most are the rows of accounts, of which ten
 * thousand fit here: a page that is not kept is copied out of the file, which takes longer than all else of a look-up.
 */
const CACHE_KIB = { writer: 4096, reader: 10_240 };

/**
 * Opens a database file, and makes it (mode 0600) and its directory (mode 0700) where there is none.
 *
 * @param path the file; the WAL and its index are written beside it
 * @throws StorageError when the library is too old, a setting does not take, or the file is damaged or no database
 */
export function openConnections(path: string, options: OpenOptions = {}): Connections {
  assertVersion();
  createPrivate(path);
  const opened: Client[] = [];
  try {
    const writer = openWriter(path, opened);
    if (statSync(path).size <= (options.checkUpTo ?? STORAGE.checkedAtStartBytes)) assertIntact(writer);
    return { writer, reader: openReader(path, opened) };
  } catch (error) {
    for (const client of opened) client.close();
    throw refusal(path, error);
  }
}

/** Opens one more connection to a database that exists. */
export function openWriter(path: string, opened: Client[] = []): Client {
  return configure(open(path, false, opened));
}

/** Opens one more connection to a database that is open already, which can only read. */
export function openReader(path: string, opened: Client[] = []): Client {
  return configure(open(path, true, opened));
}

/**
 * Reads every page and checks its structure. It takes seconds on a file of gigabytes, so a start does it for small files only, and
 * an operator's command for the others. A flipped bit inside a value is not found here: sealed values find it themselves.
 *
 * @throws StorageError `DATABASE_DAMAGED`; the check may also fail in the middle of a damaged page
 */
export function assertIntact(client: Client): void {
  let findings: string[];
  try {
    const rows = client.pragma('quick_check(5)') as { quick_check: string }[];
    findings = rows.map((row) => row.quick_check.replaceAll('\n', ' '));
  } catch (error) {
    throw new StorageError('DATABASE_DAMAGED', 'the database file is damaged: restore it from a backup', {
      cause: error,
    });
  }
  if (findings.length === 1 && findings[0] === 'ok') return;
  throw new StorageError(
    'DATABASE_DAMAGED',
    `the database file is damaged: restore it from a backup (${findings.join('; ')})`,
  );
}

function assertVersion(): void {
  const memory = new Database(':memory:');
  try {
    checkVersion(memory.prepare('select sqlite_version()').pluck().get() as string);
  } finally {
    memory.close();
  }
}

/** @throws StorageError when a version such as `3.51.2` is older than the oldest one that is safe here */
export function checkVersion(version: string): void {
  const parts = version.split('.').map(Number);
  for (const [place, needed] of OLDEST_SQLITE.entries()) {
    const part = parts[place] ?? 0;
    if (part > needed) return;
    if (part < needed) {
      const oldest = OLDEST_SQLITE.join('.');
      throw new StorageError('DATABASE_TOO_OLD', `SQLite ${version} is too old: ${oldest} or later is required`);
    }
  }
}

/** The WAL and its index inherit the mode of the file. */
function createPrivate(path: string): void {
  makeDirectory(dirname(path));
  if (!existsSync(path)) closeSync(openSync(path, 'a', 0o600));
}

function open(path: string, readonly: boolean, opened: Client[]): Client {
  const client = new Database(path, { readonly, fileMustExist: true, timeout: 0 });
  opened.push(client);
  return client;
}

function configure(client: Client): Client {
  const cache = -CACHE_KIB[client.readonly ? 'reader' : 'writer'];
  for (const [name, set, expected] of [...PRAGMAS, ['cache_size', String(cache), cache] as const]) {
    // A read-only connection cannot switch the mode; it finds the one that the writer has set.
    if (!(client.readonly && name === 'journal_mode')) client.pragma(`${name} = ${set}`);
    const actual = client.pragma(name, { simple: true });
    if (actual !== expected) {
      throw new StorageError('DATABASE_SETTING', `the database setting ${name} is ${String(actual)}, not ${expected}`);
    }
  }
  return client;
}

/** An error of the driver as one that names the file. */
export function refusal(path: string, error: unknown): unknown {
  if (!(error instanceof Database.SqliteError)) return error;
  return new StorageError(error.code, `the database ${path} cannot be opened: ${error.message}`, { cause: error });
}
