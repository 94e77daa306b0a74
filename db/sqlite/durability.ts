import { closeSync, fdatasync, openSync } from 'node:fs';

/** Told when a sync has ended; with an error nothing is known about what was to become durable. */
export type Synced = (error: Error | null) => void;

export interface Durability {
  /** Calls back once everything that was written before this call is on the disk, as far as the disk tells the truth. */
  sync(done: Synced): void;
  /** To be called when no sync is under way. */
  close(): void;
}

/**
 * Makes the log of a database durable without holding up the event loop: an fsync takes as long as a hundred reads. The database
 * writes its commits into the log and leaves the syncing to this module; log and reader stay consistent by SQLite's own ordering.
 *
 * @param wal the file with the log, which lives as long as a connection to the database is open
 */
export function openDurability(wal: string): Durability {
  const file = openSync(wal, 'r+');
  return { sync: oneAtATime((done) => fdatasync(file, done)), close: onlyOnce(() => closeSync(file)) };
}

/** The main files of this process by their paths. */
const MAIN_FILES = new Map<string, { file: number; stores: number }>();

/**
 * The same for the main file, to which checkpoints write.
 *
 * Closing any descriptor of that file releases the locks that SQLite holds on it in the whole process. So the stores of one
 * file share one descriptor, and each is to be closed after its connections.
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
 * Lets those who ask while a sync is under way share the next one: each wakes a thread, and what it would sync is mostly synced already.
 *
 * After one that failed those who wait are told so as well. The kernel tells of lost pages once, so a second sync would succeed.
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
