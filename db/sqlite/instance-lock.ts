import { closeSync, existsSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { INSTANCE } from '../../core/budgets.ts';
import { makeDirectory } from '../directory.ts';
import type { Hold, HoldOptions } from '../engine.ts';
import { StorageError } from '../errors.ts';
import { type Wait, wait as waitFor } from './busy.ts';
import { isBusy } from './errors.ts';

export interface LockOptions extends HoldOptions {
  wait?: Wait;
}

/** Returns the path of the file that a server locks. The file stays empty. */
export function lockPath(database: string): string {
  return `${database}-lock`;
}

/**
 * Acquires the right to serve a database file. It is a lock of the operating system on a separate file, so it ends with
 * the process, even if the process is killed.
 *
 * @throws StorageError `DATABASE_IN_USE` if another server still has it after the waiting time
 */
export async function holdInstanceLock(database: string, terms: LockOptions = {}): Promise<Hold> {
  const { onWait, waitMs = INSTANCE.lockWaitMs, wait = waitFor } = terms;
  const path = lockPath(database);
  makeDirectory(dirname(path));
  createLockFile(path);
  for (let waitedMs = 0; ; waitedMs += INSTANCE.lockPauseMs) {
    const lock = tryToLock(path);
    if (lock) return keepLock(path, database, lock);
    if (waitedMs >= waitMs) {
      throw inUse(database);
    }
    if (waitedMs === 0) onWait?.();
    await wait(INSTANCE.lockPauseMs);
  }
}

/**
 * If the lock file was deleted, its lock does not stop a server that creates a new file. So `check` locks the new file,
 * too.
 */
function keepLock(path: string, database: string, first: Database.Database): Hold {
  const locks = [first];
  let fileId = fileIdOf(path);
  return {
    check() {
      if (fileIdOf(path) === fileId) return;
      createLockFile(path);
      const lock = tryToLock(path);
      if (!lock) throw inUse(database);
      locks.push(lock);
      fileId = fileIdOf(path);
    },
    release: async () => {
      for (const lock of locks) lock.close();
    },
  };
}

function createLockFile(path: string): void {
  if (!existsSync(path)) closeSync(openSync(path, 'a', 0o600));
}

function fileIdOf(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  return found && `${found.dev}:${found.ino}`;
}

function inUse(database: string): StorageError {
  return new StorageError(
    'DATABASE_IN_USE',
    `another server uses the database ${database}: stop it, or choose another database with DATA_DIR or DATABASE_URL`,
  );
}

/** Locks a file through SQLite, which supports this on every system; Node does not. */
function tryToLock(path: string): Database.Database | undefined {
  const client = new Database(path, { fileMustExist: true, timeout: 0 });
  try {
    client.pragma('journal_mode = memory');
    client.exec('begin exclusive');
    return client;
  } catch (error) {
    client.close();
    if (isBusy(error)) return undefined;
    throw error;
  }
}
