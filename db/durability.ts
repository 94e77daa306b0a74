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
 * writes its commits into the log and leaves the syncing to this room; log and reader stay consistent by SQLite's own ordering.
 *
 * @param wal the file with the log, which lives as long as a connection to the database is open
 */
export function openDurability(wal: string): Durability {
  const file = openSync(wal, 'r+');
  let open = true;
  return {
    sync: (done) => fdatasync(file, done),
    close: () => {
      if (open) closeSync(file);
      open = false;
    },
  };
}
