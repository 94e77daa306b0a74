import { IMPORT } from '../budgets.ts';
import type { Job } from '../threads/job.ts';
import { JobLimitError } from '../threads/job.ts';
import type { ThreadPool } from '../threads/pool.ts';
import type { ImportRequest, ImportResult } from './import-document.ts';
import { importError } from './import-error.ts';

/** Everything that a request is made of but functions, which cannot be sent to a thread. */
type ThreadRequest = Omit<ImportRequest, 'progress'>;

const importJob: Job<ThreadRequest, ImportResult> = {
  module: new URL('./import-thread.ts', import.meta.url),
  timeMs: IMPORT.timeMs,
};

/**
 * Imports a document in a thread.
 *
 * @param environmentId whose places the import takes
 * @throws ApiError INVALID_DOCUMENT as importDocument does, and for a document that takes too much time or memory; RATE_LIMITED or
 *   SERVER_BUSY when too many imports wait
 */
export async function importInThread(
  threads: ThreadPool,
  environmentId: string,
  request: ThreadRequest,
): Promise<ImportResult> {
  const texts = [...request.files, ...(request.overlays ?? [])].map(({ text }) => text);
  const bytes = texts.reduce((sum, text) => sum + text.length, 0);
  try {
    return await threads.run(importJob, request, { tenant: environmentId, bytes });
  } catch (error) {
    if (!(error instanceof JobLimitError)) throw error;
    throw importError('files', 'take more time or memory than an import is allowed', error);
  }
}
