import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { StorageError } from '../errors.ts';

/** What the thread posts of a checkpoint that failed. */
export interface ThreadFailure {
  code: string;
  message: string;
}

export interface CheckpointThread {
  /**
   * Runs a checkpoint in a thread with its own connection. One call at a time.
   *
   * @throws StorageError
   */
  move(): Promise<void>;
  /** Ends the thread, if there is one, and resolves when its connection is closed. The next `move` starts another. */
  end(): Promise<void>;
}

const SCRIPT = new URL('./checkpoint-worker.ts', import.meta.url);

/**
 * Moves a log that has grown long, which takes seconds. The thread and its 16 MB of memory exist only while a log is that long.
 *
 * @param path the database file
 */
export function createCheckpointThread(path: string): CheckpointThread {
  let worker: Worker | undefined;
  let underWay: PromiseWithResolvers<void> | undefined;

  function start(): Worker {
    const started = new Worker(SCRIPT, { workerData: path });
    const gone = (cause: unknown) => {
      if (worker !== started) return;
      worker = undefined;
      underWay?.reject(new StorageError('CHECKPOINT_THREAD', 'the checkpoint thread ended', { cause }));
    };
    started.on('message', (failure: ThreadFailure | null) => {
      if (failure) underWay?.reject(new StorageError(failure.code, failure.message));
      else underWay?.resolve();
    });
    return started.on('error', gone).on('exit', gone);
  }

  return {
    async move() {
      worker ??= start();
      underWay = Promise.withResolvers<void>();
      worker.ref();
      worker.postMessage('move');
      try {
        await underWay.promise;
      } finally {
        worker?.unref();
      }
    },
    async end() {
      const ending = worker;
      if (!ending) return;
      worker = undefined;
      const exit = once(ending, 'exit');
      ending.postMessage('end');
      await exit;
    },
  };
}
