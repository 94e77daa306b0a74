import { closeSync, existsSync, fdatasyncSync, openSync, readSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { syncDirectory } from '../directory.ts';
import { RetryableError, StorageError } from '../errors.ts';
import { retryWhileLocked, type Wait, wait as waitFor } from './busy.ts';
import { isBusy } from './errors.ts';
import type { Client } from './open.ts';

/**
 * Empties the log of an earlier process. After a failed sync, the kernel may show pages of a file that never reach the
 * disk. A later process that appends to such a log, or relies on such a main file, would acknowledge writes that cannot
 * be recovered. So the content of the log is moved into the main file, which writes each page again. Both files are
 * synced, and the log starts from the beginning.
 *
 * If another process reads from the log, the log cannot be restarted. Then its bytes are written again in place and
 * synced.
 *
 * @param writer the only writing connection of this process
 * @throws StorageError `DATABASE_UNSYNCED` if the content of the disk cannot be ensured; SqliteError or a file system
 * error if a sync fails
 */
export async function startFreshLog(writer: Client, wait: Wait = waitFor): Promise<void> {
  const path = writer.name;
  // Pages that an earlier process has moved are not moved again while any process has the database open.
  const [, , moved] = writer.prepare('pragma wal_checkpoint(noop)').raw().get() as [number, number, number];
  const isDistrusted = existsSync(distrustPath(path));
  if (isDistrusted && moved > 0) throw unsynced(path);
  const emptied = await retryWhileLocked(() => empty(writer), wait).then(
    () => true,
    (error) => {
      if (!isBusy(error)) throw error;
      return false;
    },
  );
  if (!emptied) await retryWhileLocked(() => rewrite(writer, `${path}-wal`), wait);
  if (isDistrusted) removeNote(path);
  syncDirectory(dirname(path));
}

/**
 * Records that a sync of the log or of the main file has failed, so that the next start does not trust the file system
 * cache.
 */
export function markFilesUntrusted(path: string): void {
  writeFileSync(distrustPath(path), 'A sync of this database failed. The next start writes its pages again.\n', {
    mode: 0o600,
  });
}

/** Removes the record of a failed sync. Call it when the files were replaced or written again. */
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

const CHUNK_BYTES = 1024 * 1024;

/**
 * Writes every byte of the log again in place. Readers see the same bytes before and after, and the lock prevents
 * writes.
 */
function rewrite(writer: Client, log: string): void {
  writer.exec('begin immediate');
  const fd = openSync(log, 'r+');
  try {
    const piece = Buffer.alloc(CHUNK_BYTES);
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
