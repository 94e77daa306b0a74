import { closeSync, fdatasync, openSync } from 'node:fs';

/** Called when a sync has ended. After an error it is unknown which data is durable. */
export type Synced = (error: Error | null) => void;

export interface Durability {
  /**
   * Calls back when everything that was written before this call is on the disk, as far as the disk reports truthfully.
   */
  sync(done: Synced): void;
  /** Call it only when no sync is running. */
  close(): void;
}

/**
 * Makes the log of a database durable without blocking the event loop, because an fsync takes as long as a hundred
 * reads. SQLite writes commits to the log without syncing; this module does the syncing. The log stays consistent
 * because of SQLite's own ordering of writes.
 *
 * @param wal the file of the log, which exists while a connection to the database is open
 */
export function openDurability(wal: string): Durability {
  const file = openSync(wal, 'r+');
  return { sync: oneAtATime((done) => fdatasync(file, done)), close: onlyOnce(() => closeSync(file)) };
}

/** The open main files of this process, by path. */
const MAIN_FILES = new Map<string, { file: number; stores: number }>();

/**
 * Syncs the main file, which checkpoints write to. Closing any descriptor of that file releases all locks that SQLite
 * has on it in this process. So the stores of one file share one descriptor, and each store must close it after its
 * connections.
 */
export function openMainFile(path: string): Durability {
  const shared = MAIN_FILES.get(path) ?? { file: openSync(path, 'r+'), stores: 0 };
  MAIN_FILES.set(path, shared);
  shared.stores++;
  const close = () => {
    if (--shared.stores > 0) return;
    MAIN_FILES.delete(path);
    closeSync(shared.file);
  };
  return { sync: (done) => fdatasync(shared.file, done), close: onlyOnce(close) };
}

/**
 * Runs one sync at a time. Calls that arrive during a sync share the next one, because each sync uses a thread, and the
 * running sync already writes most of their data. After a failed sync the waiting calls fail too: the kernel reports
 * lost pages only once, so another sync would seem to succeed.
 */
export function oneAtATime(sync: (done: Synced) => void): (done: Synced) => void {
  let waiting: Synced[] | null = null;
  const start = (group: Synced[]) => {
    waiting = [];
    sync((error) => {
      const next = waiting ?? [];
      waiting = null;
      if (error) group.push(...next);
      else if (next.length > 0) start(next);
      for (const done of group) done(error);
    });
  };
  return (done) => {
    if (waiting) waiting.push(done);
    else start([done]);
  };
}

function onlyOnce(close: () => void): () => void {
  let open = true;
  return () => {
    if (open) close();
    open = false;
  };
}
