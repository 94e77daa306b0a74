import { closeSync, existsSync, fdatasyncSync, openSync, readSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { syncDirectory } from '../directory.ts';
import { RetryableError, StorageError } from '../errors.ts';
import { untilFree, type Wait, wait as waitFor } from './busy.ts';
import { isBusy } from './errors.ts';
import type { Client } from './open.ts';

/**
 * After a sync that failed, the kernel may show pages of a file that are not on the disk and never will be. A later process that appends
 * to such a log, or relies on such a main file, would acknowledge writes behind a hole. So nothing is appended to the log of an earlier
 * process: its content is moved into the main file, which writes each page again, both are synced, and the log starts from its
 * beginning.
 *
 * Another process that reads from the log keeps it from starting again. Then its bytes are written again in their place and synced.
 *
 * @param writer the only connection of this process that writes
 * @throws StorageError `DATABASE_UNSYNCED` when it cannot be made sure of what is on the disk; SqliteError, or an error of the file
 *   system, when a sync fails
 */
export async function startFreshLog(writer: Client, wait: Wait = waitFor): Promise<void> {
  const path = writer.name;
  // What an earlier process has moved is not moved again, as long as any process has the database open.
  const [, , moved] = writer.prepare('pragma wal_checkpoint(noop)').raw().get() as [number, number, number];
  const isDistrusted = existsSync(distrustPath(path));
  if (isDistrusted && moved > 0) throw unsynced(path);
  const emptied = await untilFree(() => empty(writer), wait).then(
    () => true,
    (error) => {
      if (!isBusy(error)) throw error;
      return false;
    },
  );
  if (!emptied) await untilFree(() => rewrite(writer, `${path}-wal`), wait);
  if (isDistrusted) removeNote(path);
  syncDirectory(dirname(path));
}

/** Notes that a sync of the log or of the main file has failed: the next start relies on nothing that is in memory. */
export function distrustFiles(path: string): void {
  writeFileSync(distrustPath(path), 'A sync of this database failed. The next start writes its pages again.\n', {
    mode: 0o600,
  });
}

/** Removes that note: the files are others now. */
export function removeNote(path: string): void {
  rmSync(distrustPath(path), { force: true });
}

function distrustPath(path: string): string {
  return `${path}-unsynced`;
}

/** @throws StorageError `SQLITE_BUSY` while another process reads or writes */
function empty(writer: Client): void {
  const [busy] = writer.prepare('pragma wal_checkpoint(truncate)').raw().get() as [number];
  if (busy !== 0) throw new RetryableError('SQLITE_BUSY', 'another process reads from the log');
}

const PIECE_BYTES = 1024 * 1024;

/** Writes every byte of the log again in its place. Its readers see the same bytes before and after; the lock keeps writers out. */
function rewrite(writer: Client, log: string): void {
  writer.exec('begin immediate');
  const fd = openSync(log, 'r+');
  try {
    const piece = Buffer.alloc(PIECE_BYTES);
    for (let place = 0, size = 0; ; place += size) {
      size = readSync(fd, piece, 0, piece.length, place);
      if (size === 0) break;
      writeSync(fd, piece, 0, size, place);
    }
    fdatasyncSync(fd);
  } finally {
    closeSync(fd);
    writer.exec('rollback');
  }
}

function unsynced(path: string): StorageError {
  return new StorageError(
    'DATABASE_UNSYNCED',
    `an earlier process could not sync the database ${path}, and another process has had it open since. End that process (a backup, ` +
      'a sqlite3 shell, a command of valetkey), then start again',
  );
}
