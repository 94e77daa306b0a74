import { Worker } from 'node:worker_threads';
import type { Manifest } from '../../database-files.ts';
import { StorageError } from '../../errors.ts';

export interface CopyJob {
  source: string;
  /** An empty file. */
  copy: string;
  /** RFC 3339. */
  madeAt: string;
  program: string;
}

/** The messages of the thread: how many bytes to copy, the next phase, and the result. */
export type CopyMessage =
  | { total: number }
  | { phase: 'verifying' }
  | { manifest: Manifest }
  | { failure: { code: string; message: string } };

const SCRIPT = new URL('./copy-worker.ts', import.meta.url);

/**
 * Copies a database in a thread and verifies the copy, while other processes may write to the database.
 *
 * @param tell receives the messages of the thread before its result
 * @throws StorageError
 */
export async function copyInThread(job: CopyJob, tell: (message: CopyMessage) => void): Promise<Manifest> {
  const worker = new Worker(SCRIPT, { workerData: job });
  const { promise, resolve, reject } = Promise.withResolvers<Manifest>();
  worker.on('message', (message: CopyMessage) => {
    if ('manifest' in message) resolve(message.manifest);
    else if ('failure' in message) reject(new StorageError(message.failure.code, message.failure.message));
    else tell(message);
  });
  worker.on('error', reject);
  worker.on('exit', (code) => reject(new StorageError('BACKUP_FAILED', `the backup thread ended with code ${code}`)));
  return promise;
}
