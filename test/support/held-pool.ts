import { JobLimitError } from '../../core/threads/job.ts';
import { createThreadPool, type PoolLimits, type ThreadPool } from '../../core/threads/pool.ts';

export interface HeldPool extends ThreadPool {
  /** Resolves once so many jobs run. */
  running(jobs: number): Promise<void>;
  /** Ends every job that runs, as one that took too long. */
  endAll(): void;
}

/** A pool whose jobs run until the test ends them: to see what happens meanwhile. */
export function heldPool(limits: PoolLimits): HeldPool {
  let held: (() => void)[] = [];
  let seen: (() => void)[] = [];
  const pool = createThreadPool(limits, () => ({
    usable: true,
    end: async () => {},
    run: () =>
      new Promise<never>((_, reject) => {
        held.push(() => reject(new JobLimitError('time')));
        for (const check of seen) check();
      }),
  }));
  return {
    ...pool,
    running: (jobs) =>
      new Promise((resolve) => {
        const check = () => held.length >= jobs && resolve();
        seen.push(check);
        check();
      }),
    endAll: () => {
      const ending = held;
      held = [];
      seen = [];
      for (const end of ending) end();
    },
  };
}
