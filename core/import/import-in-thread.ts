import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { IMPORT } from '../budgets.ts';
import { ApiError, type ErrorCode, type FieldError } from '../errors.ts';
import type { ImportRequest, ImportResult } from './import-document.ts';
import { importError } from './import-error.ts';

/** What the thread of an import says. */
export type ImportAnswer =
  | { result: ImportResult }
  | { refused: { code: ErrorCode; detail: string; errors: FieldError[] } };

/** Everything that a request is made of but functions, which cannot be sent to a thread. */
export type ThreadRequest = Omit<ImportRequest, 'progress'>;

export interface ImportThreads {
  /** @throws ApiError INVALID_DOCUMENT as importDocument does, and for a document that takes too much time or memory */
  run(request: ThreadRequest): Promise<ImportResult>;
}

/**
 * Imports in threads of their own, so that a large document holds up nobody: one at a time, since each may take a gigabyte;
 * others wait for it.
 */
export function createImportThreads(): ImportThreads {
  let last: Promise<unknown> = Promise.resolve();
  return {
    run: (request) => {
      const turn = last.then(() => runThread(request));
      last = turn.catch(() => undefined);
      return turn;
    },
  };
}

async function runThread(request: ThreadRequest): Promise<ImportResult> {
  const worker = new Worker(new URL('./worker.ts', import.meta.url), {
    workerData: request,
    resourceLimits: { maxOldGenerationSizeMb: IMPORT.heapBytes / 1024 ** 2 },
  });
  const signal = AbortSignal.timeout(IMPORT.timeMs);
  try {
    const [answer] = (await once(worker, 'message', { signal })) as [ImportAnswer];
    if ('result' in answer) return answer.result;
    const { code, detail, errors } = answer.refused;
    throw new ApiError(code, detail, { errors });
  } catch (error) {
    const exhausted =
      signal.aborted || (error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY');
    if (exhausted) throw importError('files', 'take more time or memory than an import may have', error);
    throw error;
  } finally {
    await worker.terminate();
  }
}
