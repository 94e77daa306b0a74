import { STORAGE } from '../../core/budgets.ts';
import type { Synced } from './durability.ts';
import type { Claim, MarkFile } from './mark-file.ts';

/**
 * Writes down, outside of the log, how much was durable. SQLite reads a damaged log up to the damage and takes the rest for writes that
 * were never finished; with the mark the next start can tell.
 */
export interface HighWaterMark {
  /** Syncs the log, and marks what was durable then where a mark is due. */
  sync(done: Synced): void;
  /** Marks what is durable now, and closes the file. Call it after the last write, while the connections are open. */
  close(): Promise<void>;
}

export interface MarkTools {
  file: MarkFile;
  /** See `createMeasure`. */
  measure: () => Claim | undefined;
  /** Syncs the log. */
  syncLog: (done: Synced) => void;
  /** Told of a mark that could not be written. A later one says the same and more. */
  report(error: unknown): void;
}

/**
 * A mark is never ahead of the disk: it is measured before a sync of the log and written after it. It is behind by up to
 * `STORAGE.markEveryMs`, and after a loss of power by some seconds, since the file itself is synced every now and then. A mark that is
 * behind tells less, and is never a false alarm.
 */
export function createHighWaterMark({ file, measure, syncLog, report }: MarkTools): HighWaterMark {
  let timer: NodeJS.Timeout | null = null;
  /** Whether the log was synced since the last measure. */
  let isBehind = false;
  /** After a sync that failed, later ones succeed although nothing is known of what is on the disk. */
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
