import type { JobRow, Transaction } from '../../db/store.ts';
import { JOBS } from '../budgets.ts';
import { startTimer, type Timer, withinLimit } from '../scheduling/timers.ts';
import type { JobKind } from './job-kind.ts';
import { createPeriodicJobs, type PeriodicDeps, type PeriodicJob } from './periodic.ts';
import type { JobQueue } from './queue.ts';
import { createJobRunner, type RunnerDeps } from './runner.ts';

export interface JobDeps
  extends Omit<RunnerDeps, 'wake' | 'counted' | 'kinds'>,
    Omit<PeriodicDeps, 'wake' | 'counted'> {
  queue: Pick<JobQueue, 'onAdded'>;
  kinds: readonly JobKind[];
  periodic: readonly PeriodicJob[];
  counted: {
    job: RunnerDeps['counted'];
    periodic: PeriodicDeps['counted'];
  };
}

export interface Jobs {
  /** Starts looking for work, on the real clock. */
  start(): void;
  /** Runs a periodic job soon, regardless of its due time. */
  soon(name: string): void;
  /**
   * Makes a failed job run again, as if it had just been added. Its first attempt starts soon after the commit.
   *
   * @returns the job, or undefined if it has not failed, its payload was removed, or its kind is unknown
   */
  retry(tx: Transaction, job: Pick<JobRow, 'id' | 'environmentId' | 'kind'>): Promise<JobRow | undefined>;
  /** Runs all due jobs; resolves when none is due or running. */
  runDue(): Promise<void>;
  /**
   * Starts no more attempts and aborts the running ones. Waits for a running pass over the due jobs, and then for the
   * attempts, each time for at most `JOBS.stopMs`.
   */
  stop(): Promise<void>;
}

/** Creates the job engine, which runs all work that no request waits for: durable jobs and periodic jobs. */
export function createJobs({ queue, kinds, periodic, counted, ...tools }: JobDeps): Jobs {
  const stopping = new AbortController();
  const { signal } = stopping;
  const wake = (ms: number) => timer?.soon(ms);
  const runner = createJobRunner({ ...tools, kinds, counted: counted.job, wake }, signal);
  const periods = createPeriodicJobs({ ...tools, counted: counted.periodic, wake }, periodic, signal);
  let timer: Timer | undefined;

  let looked: Promise<unknown> = Promise.resolve();

  /** Starts the due jobs. Only one such pass runs at a time, so that two passes do not start the same job. */
  function look(lanes?: 'all lanes'): Promise<number> {
    const looking = looked.then(() => lookOnce(lanes));
    looked = looking.catch(() => {});
    return looking;
  }

  async function lookOnce(lanes?: 'all lanes'): Promise<number> {
    if (signal.aborted) return 0;
    return (await periods.look()) + (await runner.look(lanes));
  }

  return {
    start() {
      const failed = (err: unknown) => tools.log.error({ err }, 'due jobs could not be read');
      timer = startTimer(() => look(), { everyMs: JOBS.lookEveryMs, failed });
      queue.onAdded(() => timer?.soon(JOBS.soonMs));
    },
    soon(name) {
      periods.ask(name);
      timer?.soon(JOBS.soonMs);
    },
    async retry(tx, { id, environmentId, kind: name }) {
      const kind = kinds.find((known) => known.name === name);
      if (!kind) return undefined;
      const at = tools.now();
      const job = await tx.jobs.retry(environmentId, id, { runAt: at, giveUpAt: at + kind.giveUpAfterMs, at });
      if (job) tx.afterCommit(() => timer?.soon(JOBS.soonMs));
      return job;
    },
    async runDue() {
      // Jobs add jobs, and the timer starts some of them. So the loop ends with a pass that found nothing due while
      // nothing was running.
      const isBusy = () => runner.isBusy() || periods.isBusy();
      for (let quiet = false; !quiet; await Promise.all([runner.idle(), periods.idle()])) {
        const wasBusy = isBusy();
        quiet = (await look('all lanes')) === 0 && !wasBusy && !isBusy();
      }
    },
    async stop() {
      stopping.abort();
      await timer?.stop(JOBS.stopMs);
      await withinLimit(Promise.all([runner.idle(), periods.idle()]), JOBS.stopMs);
    },
  };
}
