import {
  closeSync,
  existsSync,
  fdatasync,
  fsyncSync,
  linkSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { BackupRequest, Manifest } from '../../database-files.ts';
import { makeDirectory, syncDirectory } from '../../directory.ts';
import { StorageError } from '../../errors.ts';
import { retryWhileLocked } from '../busy.ts';
import { assertComplete } from '../complete.ts';
import { refusal } from '../open.ts';
import { copyInThread } from './copy.ts';

const LOOK_EVERY_MS = 500;
/**
 * An unfinished backup that nothing has written to for this long (in milliseconds) is treated as interrupted, and is
 * removed.
 */
const ABANDONED_MS = 60 * 60 * 1000;
/** The error codes of file systems without hard links. */
const NO_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']);

/** Makes a consistent copy of a database that may be in use, verifies it, and then gives it its name. */
export async function makeBackup({ source, target, now, program, progress }: BackupRequest): Promise<Manifest> {
  await retryWhileLocked(() => assertComplete(source)).catch((error) => {
    throw refusal(source, error);
  });
  const path = resolve(target);
  if (existsSync(path)) throw exists(path);
  makeDirectory(dirname(path));
  removeAbandoned(dirname(path), now);
  const copy = partialPath(path);
  closeSync(openSync(copy, 'wx', 0o600));
  // A copy that failed on a full disk leaves its journal as well.
  const cleanUp = () => {
    for (const file of [copy, `${copy}-journal`]) rmSync(file, { force: true });
  };
  process.once('exit', cleanUp);
  try {
    const job = { source: resolve(source), copy, madeAt: now.toISOString(), program };
    const manifest = await watched(copy, progress, (tell) => copyInThread(job, tell));
    publish(copy, path);
    return manifest;
  } finally {
    cleanUp();
    process.off('exit', cleanUp);
  }
}

async function watched<T>(
  copy: string,
  progress: BackupRequest['progress'],
  run: (tell: (message: object) => void) => Promise<T>,
): Promise<T> {
  let total = 0;
  let phase: 'copying' | 'verifying' = 'copying';
  let syncing = Promise.resolve();
  let isSyncing = false;
  const fd = openSync(copy, 'r');
  // The copy is synced in parts, because syncing it as a whole at the end would delay the syncs of the server for
  // seconds.
  const syncSome = () => {
    if (isSyncing) return;
    isSyncing = true;
    syncing = new Promise((resolve) => {
      fdatasync(fd, () => {
        isSyncing = false;
        resolve();
      });
    });
  };
  const look = () => {
    progress?.(phase, statSync(copy).size, total);
    syncSome();
  };
  const timer = setInterval(look, LOOK_EVERY_MS);
  try {
    return await run((message) => {
      if ('total' in message) total = message.total as number;
      if ('phase' in message) phase = 'verifying';
      look();
    });
  } finally {
    clearInterval(timer);
    await syncing;
    closeSync(fd);
  }
}

/**
 * Gives the copy its name when its content is durable. It uses a link, which, unlike a rename, does not replace an
 * existing file.
 */
function publish(copy: string, path: string): void {
  const fd = openSync(copy, 'r+');
  fsyncSync(fd);
  closeSync(fd);
  try {
    linkSync(copy, path);
  } catch (error) {
    if (existsSync(path)) throw exists(path);
    if (!NO_LINKS.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
    renameSync(copy, path);
  }
  rmSync(copy, { force: true });
  syncDirectory(dirname(path));
}

function partialPath(path: string): string {
  return join(dirname(path), `.${basename(path)}.${process.pid}.partial`);
}

function removeAbandoned(directory: string, now: Date): void {
  for (const name of readdirSync(directory)) {
    if (!/^\..+\.\d+\.partial(-journal)?$/.test(name)) continue;
    const path = join(directory, name);
    const age = now.getTime() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? now.getTime());
    if (age > ABANDONED_MS) rmSync(path, { force: true });
  }
}

function exists(path: string): StorageError {
  return new StorageError('BACKUP_EXISTS', `${path} already exists: choose another name`);
}
