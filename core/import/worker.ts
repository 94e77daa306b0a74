import { parentPort, workerData } from 'node:worker_threads';
import { ApiError } from '../errors.ts';
import { type ImportRequest, importDocument } from './import-document.ts';
import type { ImportAnswer } from './import-in-thread.ts';

/** The thread of one import: it gets the request, posts the answer and ends. */
async function answer(): Promise<ImportAnswer> {
  try {
    return { result: await importDocument(workerData as ImportRequest) };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { refused: { code: error.code, detail: error.message, errors: error.errors ?? [] } };
  }
}

parentPort?.postMessage(await answer());
