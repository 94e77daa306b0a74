import { MCP_UPSTREAM } from '../../budgets.ts';
import { type Deadline, startDeadline } from '../../scheduling/timers.ts';
import { FairQueue } from '../../threads/fair-queue.ts';

/** Runs tasks that read tool lists, one at a time in this process. Waiting environments take turns. */
export interface SyncTurns {
  /**
   * Runs a task when it is its turn.
   *
   * @param task receives a signal that is aborted after `MCP_UPSTREAM.syncMs`
   * @throws ApiError RATE_LIMITED or SERVER_BUSY if too many tasks are waiting; and the errors of the task
   */
  run<T>(environmentId: string, task: (signal: AbortSignal) => Promise<T>): Promise<T>;
}

interface Turn {
  cost: { tenant: string; bytes: number };
  start(): Promise<void>;
}

export function createSyncTurns(timer: Deadline = startDeadline): SyncTurns {
  const { queuedSyncs: places, allQueuedSyncs: waiting } = MCP_UPSTREAM;
  const bytes = { tenantBytes: Number.POSITIVE_INFINITY, bytes: Number.POSITIVE_INFINITY };
  const queue = new FairQueue<Turn>({ places, waiting, running: 1, ...bytes });
  let isRunning = false;

  function next(): void {
    if (isRunning) return;
    const turn = queue.next();
    if (!turn) return;
    isRunning = true;
    void turn.start().finally(() => {
      isRunning = false;
      queue.done(turn);
      next();
    });
  }

  async function limited<T>(task: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const end = new AbortController();
    const stop = timer(MCP_UPSTREAM.syncMs, () => end.abort());
    try {
      return await task(end.signal);
    } finally {
      stop();
    }
  }

  return {
    run: <T>(environmentId: string, task: (signal: AbortSignal) => Promise<T>) =>
      new Promise<T>((resolve, reject) => {
        const cost = { tenant: environmentId, bytes: 0 };
        queue.add({ cost, start: () => limited(task).then(resolve, reject) });
        next();
      }),
  };
}
