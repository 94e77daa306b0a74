import { IMPORT, RESPONSE, THREADS } from '../budgets.ts';
import { createThreadPool, type ThreadPool } from './pool.ts';

export interface Threads {
  /** For checks of requests, schemas and inputs, which take milliseconds. */
  short: ThreadPool;
  /**
   * For large responses to calls that were sent. The pool is separate from `short`: if a response waited too long
   * behind other checks, the outcome of its call would be unknown.
   */
  responses: ThreadPool;
  /** For imports, which take seconds. */
  imports: ThreadPool;
}

/** The threads for work on untrusted data. None is started before it is needed. */
export function createThreads(): Threads {
  return {
    short: createThreadPool(THREADS),
    responses: createThreadPool({ ...THREADS, ...RESPONSE }),
    imports: createThreadPool({ ...IMPORT, threads: 1, idleMs: THREADS.idleMs, tenantBytes: IMPORT.bytes }),
  };
}
