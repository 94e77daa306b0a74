import { closeSync, existsSync, openSync, type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { STORAGE } from '../../core/budgets.ts';
import { makeDirectory } from '../directory.ts';
import { RetryableError, StorageError } from '../errors.ts';
import { isBusy } from './errors.ts';

export type Client = Database.Database;

/** The two connections of a store: one writes, and the other reads while a transaction of the first is open. */
export interface Connections {
  writer: Client;
  reader: Client;
}

export interface OpenOptions {
  /** Files up to this size in bytes are checked page by page at every start (default 16 MiB, about 0.05 s). */
  checkUpTo?: number;
}

/** The oldest safe version: older ones can lose or corrupt data if a checkpoint of the WAL coincides with a write. */
const OLDEST_SQLITE = [3, 51, 3] as const;

/**
 * The settings of each connection, and the values that are verified. `synchronous` is set after `journal_mode`, because
 * SQLite, as the driver compiles it, sets it to NORMAL when it turns on WAL. `busy_timeout` is 0, because SQLite would
 * wait for a lock on the event loop; instead, `busy.ts` retries.
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
  // Savepoints store the original pages of their changes. On disk this would take two writes for each page, and would
  // put contents outside of the database file.
  ['temp_store', 'memory', 2],
];

/**
 * The page cache of a connection in KiB; memory is only used when needed. The most frequently read rows are accounts,
 * of which ten thousand fit. A page that is not cached is copied from the file, which takes longer than the rest of a
 * look-up.
 */
const CACHE_KIB = { writer: 10_240, reader: 2048 };

/**
 * Opens a database file; creates it (mode 0600) and its directory (mode 0700) if they do not exist.
 *
 * @param path the file; the WAL and its index are written to the same directory
 * @throws StorageError if the SQLite version is too old, a setting cannot be applied, or the file is damaged or not a
 * database
 */
export function openConnections(path: string, options: OpenOptions = {}): Connections {
  assertVersion();
  createPrivate(path);
  assertOneName(path, statSync(path));
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

/** Opens another connection to an existing database. */
export function openWriter(path: string, opened: Client[] = []): Client {
  return configure(open(path, false, opened));
}

/** Opens another, read-only connection to a database that is already open. */
export function openReader(path: string, opened: Client[] = []): Client {
  return configure(open(path, true, opened));
}

/**
 * Reads every page and checks its structure. This takes seconds for a file of gigabytes, so a start does it for small
 * files only; `valetkey backup` does it for files of any size. A changed bit inside a value is not detected here; for
 * encrypted values, decryption detects it.
 *
 * @throws StorageError `DATABASE_DAMAGED`
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

/** @throws StorageError if a version such as `3.51.2` is older than the oldest safe one */
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

/**
 * Refuses a file with several names (hard links): a process that opens it by another name uses another lock and another
 * log, and both damage the file (https://sqlite.org/howtocorrupt.html, section 2.5).
 *
 * @throws StorageError `DATABASE_LINKED`
 */
function assertOneName(path: string, { nlink }: Stats): void {
  if (nlink <= 1) return;
  throw new StorageError(
    'DATABASE_LINKED',
    `the database ${path} has ${nlink} names (hard links), so another process could change it unnoticed: copy it (cp), and use the copy`,
  );
}

/** Creates the file with mode 0600; the WAL and its index get the same mode. */
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
  try {
    return withSettings(client);
  } catch (error) {
    client.close();
    throw error;
  }
}

function withSettings(client: Client): Client {
  const cache = -CACHE_KIB[client.readonly ? 'reader' : 'writer'];
  for (const [name, set, expected] of [...PRAGMAS, ['cache_size', String(cache), cache] as const]) {
    // A read-only connection cannot set the journal mode; it uses the one that the writer has set.
    if (!(client.readonly && name === 'journal_mode')) client.pragma(`${name} = ${set}`);
    const actual = client.pragma(name, { simple: true });
    if (actual !== expected) {
      throw new StorageError('DATABASE_SETTING', `the database setting ${name} is ${String(actual)}, not ${expected}`);
    }
  }
  return client;
}

/**
 * Converts a driver error to one that names the file, and that is retryable if another process holds a lock. Other
 * errors are returned unchanged.
 */
export function refusal(path: string, error: unknown): unknown {
  if (!(error instanceof Database.SqliteError)) return error;
  const Refusal = isBusy(error) ? RetryableError : StorageError;
  return new Refusal(error.code, `the database ${path} cannot be opened: ${error.message}`, { cause: error });
}
