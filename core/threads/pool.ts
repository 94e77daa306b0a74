import { FairQueue, type QueueLimits } from './fair-queue.ts';
import type { Job, JobCost, JobThread } from './job.ts';
import { PoolThread } from './pool-thread.ts';

/** Threads that process third-party data, so that it never blocks the event loop (threat S3). */
export interface ThreadPool {
  /**
   * Runs a job in a thread.
   *
   * @throws ApiError RATE_LIMITED or SERVER_BUSY if too many jobs are waiting or running; JobLimitError; the errors of
   * the job and of its thread; Error if the pool is closed
   */
  run<I, O>(job: Job<I, O>, input: I, cost: JobCost): Promise<O>;
  /** Ends every thread. Unfinished jobs are rejected. */
  close(): Promise<void>;
}

export interface PoolLimits extends Omit<QueueLimits, 'running'> {
  /** The maximum number of threads. */
  threads: number;
  /** The heap size at which a thread is ended. */
  heapBytes: number;
  /** A thread ends after this time without a job. */
  idleMs: number;
}

interface Entry {
  cost: JobCost;
  run(thread: JobThread): Promise<void>;
  reject(error: Error): void;
}

/**
 * Creates a pool. Threads start when jobs need them and end after some idle time, so an unused pool takes no memory.
 */
export function createThreadPool(
  limits: PoolLimits,
  startThread: () => JobThread = () => new PoolThread(limits.heapBytes),
): ThreadPool {
  // A tenant may use all threads but one, so that its slow jobs leave a thread to other tenants. A pool of one thread
  // cannot leave one free.
  const queue = new FairQueue<Entry>({ ...limits, running: Math.max(1, limits.threads - 1) });
  const threads = new Set<JobThread>();
  const idle = new Map<JobThread, NodeJS.Timeout>();
  let closed = false;

  function work(): void {
    for (;;) {
      if (idle.size === 0 && threads.size >= limits.threads) return;
      const entry = queue.next();
      if (!entry) return;
      const thread = takeIdle() ?? start();
      void entry.run(thread).finally(() => {
        queue.done(entry);
        release(thread);
        work();
      });
    }
  }

  function start(): JobThread {
    const thread = startThread();
    threads.add(thread);
    return thread;
  }

  function takeIdle(): JobThread | undefined {
    for (const [thread, timer] of idle) {
      clearTimeout(timer);
      idle.delete(thread);
      if (thread.usable) return thread;
      threads.delete(thread);
    }
    return undefined;
  }

  function release(thread: JobThread): void {
    if (thread.usable && !closed) idle.set(thread, setTimeout(() => void retire(thread), limits.idleMs).unref());
    else threads.delete(thread);
  }

  async function retire(thread: JobThread): Promise<void> {
    idle.delete(thread);
    threads.delete(thread);
    await thread.end();
  }

  return {
    run: <I, O>(job: Job<I, O>, input: I, cost: JobCost) =>
      new Promise<O>((resolve, reject) => {
        if (closed) throw new Error('The server is stopping.');
        queue.add({ cost, reject, run: (thread) => thread.run(job, input).then(resolve, reject) });
        work();
      }),
    async close() {
      closed = true;
      for (const { reject } of queue.clear()) reject(new Error('The server is stopping.'));
      for (const timer of idle.values()) clearTimeout(timer);
      await Promise.all([...threads].map((thread) => thread.end()));
    },
  };
}
