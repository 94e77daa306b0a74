import { JobLimitError } from '../../core/threads/job.ts';
import { createThreadPool, type PoolLimits, type ThreadPool } from '../../core/threads/pool.ts';

export interface HeldPool extends ThreadPool {
  /** Resolves when this many jobs are running. */
  running(jobs: number): Promise<void>;
  /** Fails every running job as if it had exceeded its time limit. */
  endAll(): void;
}

/** A pool whose jobs run until the test ends them, for tests of other work at the same time. */
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
