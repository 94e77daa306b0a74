import type { Store } from '../../db/store.ts';
import { JOBS } from '../budgets.ts';
import { fraction } from '../random.ts';
import { inBackground } from '../scheduling/background.ts';
import { inSpan } from '../spans.ts';
import { type CountRun, measureRun } from './measure-run.ts';

/** Work that is repeated, each time by only one instance (server process) of the deployment. Times in milliseconds. */
export interface PeriodicJob {
  name: string;
  everyMs: number;
  /** The minimum delay between the start of the server and its first scheduled run of the job. */
  firstMs: number;
  /** @param signal is aborted when the server stops */
  run(signal: AbortSignal): Promise<void>;
}

export interface PeriodicDeps {
  store: Pick<Store, 'read' | 'shareReads' | 'write' | 'note'>;
  /** Milliseconds UTC. */
  now(): number;
  random(size: number): Buffer;
  /** The number of this instance. */
  owner: number;
  log: { error(fields: object, message: string): void };
  /** Called with the outcome and the duration of each run. */
  counted: CountRun;
  /** Called when a run has ended. @param ms how soon to look for the next one */
  wake(ms: number): void;
}

export interface PeriodicJobs {
  /** Starts all jobs that are due or were requested. @returns how many it has started */
  look(): Promise<number>;
  /** Makes the next `look` run the job even if it is not due. */
  ask(name: string): void;
  isBusy(): boolean;
  /** Resolves when no job is running. */
  idle(): Promise<void>;
}

/** A time that is later than every due time. */
const ANY_TIME = Number.MAX_SAFE_INTEGER;

/**
 * Runs jobs by a schedule in the database, so that a restart does not begin the intervals again. Only one instance runs
 * a job at a time. A failed run is logged and counted; the next one follows at its scheduled time.
 *
 * @param stopping is aborted when the server stops
 */
export function createPeriodicJobs(
  deps: PeriodicDeps,
  jobs: readonly PeriodicJob[],
  stopping: AbortSignal,
): PeriodicJobs {
  const { store, now, random, owner, log, counted, wake } = deps;
  const startedAt = now();
  const running = new Map<string, Promise<void>>();
  const asked = new Set<string>();
  let isListed = false;

  /**
   * Returns when the job is due next. The interval is shortened by a random part, so that jobs that ran at the same
   * time do not run at the same time again.
   */
  function nextAt({ everyMs }: PeriodicJob, at: number): number {
    return Math.ceil(at + everyMs * (1 - JOBS.periodJitter * fraction(random)));
  }

  async function list(): Promise<void> {
    await store.write(async (tx) => {
      for (const { name, firstMs } of jobs) await tx.periodicJobs.add(name, startedAt + firstMs);
    });
    isListed = true;
  }

  async function take(job: PeriodicJob, isAsked: boolean): Promise<boolean> {
    const at = now();
    return store.write(async (tx) => {
      const due = isAsked ? ANY_TIME : at;
      const isTaken = await tx.periodicJobs.take(job.name, owner, due, nextAt(job, at));
      // Another instance is running the job, and may have read its data before the change that caused this request. So
      // the job is scheduled to run again.
      if (!isTaken && isAsked) await tx.periodicJobs.hasten(job.name, at);
      return isTaken;
    });
  }

  async function runTaken({ name, run }: PeriodicJob): Promise<void> {
    try {
      const facts = () => ({ name: `job ${name}`, kind: 'internal' as const, attributes: {} });
      if (!stopping.aborted) await measureRun(name, counted, () => inSpan(facts, () => run(stopping)));
    } catch (err) {
      log.error({ job: name, err }, 'a periodic job failed');
    }
    await store.write((tx) => tx.periodicJobs.release(name, owner));
  }

  function begin(job: PeriodicJob): void {
    const work = inBackground(
      () => runTaken(job),
      (err) => log.error({ job: job.name, err }, 'the end of a periodic job could not be stored'),
    ).then(() => {
      running.delete(job.name);
      wake(0);
    });
    running.set(job.name, work);
  }

  return {
    async look() {
      if (!isListed) await list();
      const times = new Map((await store.read.periodicJobs.list()).map(({ name, nextAt }) => [name, nextAt]));
      let begun = 0;
      for (const job of jobs) {
        if (running.has(job.name) || stopping.aborted) continue;
        const isAsked = asked.delete(job.name);
        const dueAt = Math.max(times.get(job.name) ?? ANY_TIME, startedAt + job.firstMs);
        if (!isAsked && now() < dueAt) continue;
        if (!(await take(job, isAsked))) continue;
        begin(job);
        begun++;
      }
      return begun;
    },
    ask: (name) => void asked.add(name),
    isBusy: () => running.size > 0,
    async idle() {
      await Promise.all(running.values());
    },
  };
}
