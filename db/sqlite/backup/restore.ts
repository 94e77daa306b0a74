import { closeSync, copyFileSync, existsSync, fsyncSync, linkSync, openSync, renameSync, rmSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import Database from 'better-sqlite3';
import type { Facts, Target } from '../../database-files.ts';
import { makeDirectory, syncDirectory } from '../../directory.ts';
import { StorageError } from '../../errors.ts';
import { isBusy } from '../errors.ts';
import { removeNote } from '../fresh-log.ts';
import { removeMark } from '../mark-file.ts';
import type { Client } from '../open.ts';
import { readFacts, removeManifest } from './manifest.ts';

/** Locks the path of a database, so that no process can open it while a backup replaces it. */
export function lockTarget(path: string): Target {
  const target = resolve(path);
  const exists = existsSync(target);
  const hold = exists ? takeHold(target) : null;
  return {
    exists,
    facts: hold && readable(hold),
    replaceBy(backup, now) {
      makeDirectory(dirname(target));
      const prepared = `${target}.restoring`;
      let kept: string | null;
      try {
        prepare(backup, prepared);
        kept = exists ? keep(target, now) : null;
        removeLog(target);
        renameSync(prepared, target);
      } finally {
        rmSync(prepared, { force: true });
      }
      syncDirectory(dirname(target));
      // The note of a failed sync and the mark of the durable data are removed last. Until then they prevent a server
      // from starting with a part of the previous database.
      removeNote(target);
      removeMark(target);
      return kept;
    },
    release: () => hold?.close(),
  };
}

/**
 * Takes an exclusive lock on the file. A connection in WAL mode gets it only if no other connection is open, and keeps
 * it until it closes.
 */
function takeHold(path: string): Client {
  const client = new Database(path, { fileMustExist: true, timeout: 0 });
  try {
    client.pragma('locking_mode = exclusive');
    client.exec('begin exclusive; commit');
    return client;
  } catch (error) {
    if (isBusy(error)) {
      client.close();
      throw new StorageError(
        'DATABASE_IN_USE',
        `the database ${path} is in use: stop the server and every other program that reads it`,
      );
    }
    // A damaged database may be replaced too; that is a reason for a restore.
    return client;
  }
}

function readable(client: Client): Facts | null {
  try {
    return readFacts(client);
  } catch {
    return null;
  }
}

/** Converts the backup to a complete and durable database in the directory of the target. */
function prepare(backup: string, prepared: string): void {
  rmSync(prepared, { force: true });
  closeSync(openSync(prepared, 'wx', 0o600));
  copyFileSync(backup, prepared);
  const client = new Database(prepared, { fileMustExist: true });
  removeManifest(client);
  client.close();
  const fd = openSync(prepared, 'r+');
  fsyncSync(fd);
  closeSync(fd);
}

/**
 * Keeps the database and its log under another name. It adds a link instead of renaming the file, so that there is
 * always a database at the path. Otherwise a server that starts meanwhile would create a new one.
 */
function keep(target: string, now: Date): string {
  const kept = unusedName(`${target}.replaced-${now.toISOString().replace(/[-:]|\.\d+/g, '')}`);
  linkSync(target, kept);
  if (existsSync(`${target}-wal`)) linkSync(`${target}-wal`, `${kept}-wal`);
  return kept;
}

/** Returns the name, or the name with a number if an earlier restore in the same second has used it. */
function unusedName(name: string): string {
  const isUsed = (candidate: string) => existsSync(candidate) || existsSync(`${candidate}-wal`);
  let candidate = name;
  for (let number = 2; isUsed(candidate); number++) candidate = `${name}-${number}`;
  return candidate;
}

/** Removes the old log, because SQLite would use it for the restored database. */
function removeLog(target: string): void {
  for (const suffix of ['-wal', '-shm']) rmSync(target + suffix, { force: true });
  syncDirectory(dirname(target));
}
