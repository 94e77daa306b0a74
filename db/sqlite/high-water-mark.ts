import { STORAGE } from '../../core/budgets.ts';
import type { Synced } from './durability.ts';
import type { Claim, MarkFile } from './mark-file.ts';

/**
 * Records outside of the log how much data was durable. SQLite reads a damaged log only up to the damage and treats the
 * rest as unfinished writes. With this record, the next start can detect the loss.
 */
export interface HighWaterMark {
  /** Syncs the log, and records what was durable if a record is due. */
  sync(done: Synced): void;
  /** Records what is durable now, and closes the file. Call it after the last write, while the connections are open. */
  close(): Promise<void>;
}

export interface MarkDeps {
  file: MarkFile;
  /** Measures how much data the database has now; undefined if this is not possible at the moment. */
  measure: () => Claim | undefined;
  /** Syncs the log. */
  syncLog: (done: Synced) => void;
  /** Receives the error if a record could not be made or written. A later record also covers the same data. */
  report(error: unknown): void;
}

/**
 * A record is never ahead of the disk: it is measured before a sync of the log and written after it. It may be behind
 * by `STORAGE.markEveryMs`, and after a power failure by some seconds, because the file is synced only from time to
 * time. A record that is behind detects less, but never causes a false alarm.
 */
export function createHighWaterMark({ file, measure, syncLog, report }: MarkDeps): HighWaterMark {
  let timer: NodeJS.Timeout | null = null;
  /** Whether the log was synced since the last measurement. */
  let isBehind = false;
  /** Whether a sync has failed. Later syncs may succeed although the content of the disk is unknown. */
  let hasFailed = false;
  let marks = 0;
  const underWay = new Set<Promise<void>>();

  function track(start: (done: Synced) => void): void {
    const { promise, resolve } = Promise.withResolvers<void>();
    underWay.add(promise);
    start((error) => {
      if (error) report(error);
      underWay.delete(promise);
      resolve();
    });
  }

  function mark(claim: Claim): void {
    track((done) => file.write(claim, done));
    if (++marks % STORAGE.markSyncEvery === 0) track(file.sync);
  }

  function measured(): Claim | undefined {
    try {
      return measure();
    } catch (error) {
      report(error);
      return undefined;
    }
  }

  function markNow(done: Synced): void {
    isBehind = false;
    const claim = hasFailed ? undefined : measured();
    syncLog((error) => {
      hasFailed ||= error !== null;
      if (!hasFailed && claim) mark(claim);
      done(error);
    });
  }

  function pause(): void {
    timer = setTimeout(() => {
      timer = null;
      if (isBehind) sync(() => {});
    }, STORAGE.markEveryMs).unref();
  }

  function sync(done: Synced): void {
    if (timer) {
      isBehind = true;
      syncLog((error) => {
        hasFailed ||= error !== null;
        done(error);
      });
    } else {
      pause();
      markNow(done);
    }
  }

  return {
    sync,
    async close() {
      if (timer) clearTimeout(timer);
      await new Promise<void>((resolve) => markNow(() => resolve()));
      track(file.sync);
      await Promise.all(underWay);
      file.close();
    },
  };
}
