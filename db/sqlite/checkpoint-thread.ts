import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { StorageError } from '../errors.ts';

/** The message of the thread about a failed checkpoint. */
export interface ThreadFailure {
  code: string;
  message: string;
}

export interface CheckpointThread {
  /**
   * Runs a checkpoint in a thread with its own connection. Only one call may run at a time.
   *
   * @throws StorageError
   */
  move(): Promise<void>;
  /** Ends the thread if there is one; resolves when its connection is closed. The next `move` starts a new thread. */
  end(): Promise<void>;
}

const SCRIPT = new URL('./checkpoint-worker.ts', import.meta.url);

/**
 * Moves a long write-ahead log into the main file, which takes seconds. The thread, which needs 16 MB of memory, exists
 * only while the log is long.
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
      // `move` has unreferenced the thread. Without this line the process may end before the thread has closed its
      // connection.
      ending.ref();
      ending.postMessage('end');
      await exit;
    },
  };
}
