import { IMPORT, THREADS } from '../core/budgets.ts';
import { createThreadPool, type ThreadPool } from '../core/threads/pool.ts';

export interface Threads {
  /** For checks and large responses, which take milliseconds. */
  short: ThreadPool;
  /** For imports, which take seconds. */
  imports: ThreadPool;
}

/** The threads for work on foreign data. None is started before it is needed. */
export function createThreads(): Threads {
  return {
    short: createThreadPool(THREADS),
    imports: createThreadPool({ ...IMPORT, threads: 1, idleMs: THREADS.idleMs, tenantBytes: IMPORT.bytes }),
  };
}
