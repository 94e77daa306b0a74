import type { Store } from '../../db/store.ts';
import { STORAGE } from '../budgets.ts';
import type { ProcessJob } from '../jobs/process-jobs.ts';
import type { Timer } from '../scheduling/timers.ts';

/** Times in milliseconds. */
export interface ScrubTimes {
  /** How long deletions are collected before the files are scrubbed once for all of them. */
  delayMs: number;
  /** How long to wait after a failed attempt, for example one that another process prevented. */
  retryMs: number;
  /** How long the server keeps trying to scrub the files when it stops. */
  lastMs: number;
}

const TIMES: ScrubTimes = {
  delayMs: STORAGE.scrubDelayMs,
  retryMs: STORAGE.scrubRetryMs,
  lastMs: STORAGE.scrubAtStopMs,
};

export interface Scrub {
  /** Schedules a scrub, which removes deleted data from the database files. */
  request(): void;
  /** How long deleted data has been waiting to be removed from the files, in milliseconds; 0 if there is none. */
  pendingMs(): number;
  /** Stops the timer. If deleted data is still in the files, tries to scrub it for at most `lastMs`. */
  stop(): Promise<void>;
}

export interface ScrubDeps {
  store: Pick<Store, 'scrub'>;
  /** Milliseconds UTC. */
  now(): number;
  /** Resolves after this many milliseconds. */
  wait(ms: number): Promise<void>;
  startProcessJob(job: ProcessJob): Timer;
  log: Record<'info' | 'warn', (fields: object | string, message?: string) => void>;
}

/**
 * Creates the timer that removes deleted data from the database files. An attempt fails if another process uses the
 * database; attempts are repeated until one succeeds.
 */
export function createScrub({ store, now, wait, startProcessJob, log }: ScrubDeps, times: ScrubTimes = TIMES): Scrub {
  /** The time of the oldest deletion whose data may still be in the files. */
  let since: number | null = null;
  /** The time of the oldest deletion that the current attempt includes. */
  let covered: number | null = null;
  /** Whether the log already says that data remains. */
  let isReported = false;
  const job = startProcessJob({
    name: 'scrub',
    run: scrubOrRetry,
    failure: 'the removal of deleted data from the database files was interrupted',
  });

  async function scrubOrRetry(): Promise<void> {
    if (!(await scrub())) job.soon(times.retryMs);
  }

  /** @returns whether nothing is left to scrub */
  async function scrub(): Promise<boolean> {
    if (since === null) return true;
    // A deletion that is committed during this attempt sets `since` again, and needs another attempt.
    covered = since;
    since = null;
    const failure = await store.scrub().then(
      (done) => (done ? null : 'another process reads or writes the database'),
      (error: Error) => error,
    );
    if (failure !== null) since = covered;
    covered = null;
    report(failure);
    return failure === null && since === null;
  }

  /** Logs one line when data remains and one when it was removed, because attempts are made several times a second. */
  function report(failure: string | Error | null): void {
    if ((failure !== null) === isReported) return;
    isReported = failure !== null;
    if (failure === null) log.info('deleted data was removed from the database files');
    else
      log.warn(
        { reason: failure instanceof Error ? failure.message : failure },
        'deleted data is still in the database files',
      );
  }

  return {
    request() {
      since ??= now();
      job.soon(times.delayMs);
    },
    pendingMs() {
      const oldest = covered ?? since;
      return oldest === null ? 0 : Math.max(0, now() - oldest);
    },
    async stop() {
      await job.stop();
      for (let waitedMs = 0; !(await scrub()) && waitedMs < times.lastMs; waitedMs += times.retryMs) {
        await wait(times.retryMs);
      }
    },
  };
}
