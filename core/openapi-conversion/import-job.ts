import { IMPORT } from '../budgets.ts';
import { createTurns } from '../scheduling/turns.ts';
import type { Job } from '../threads/job.ts';
import { JobLimitError } from '../threads/job.ts';
import type { ThreadPool } from '../threads/pool.ts';
import type { Tool } from '../tools/tool.ts';
import type { ImportRequest, ImportResult } from './import-document.ts';
import { importError } from './import-error.ts';
import type { ReportSummary } from './report-summary.ts';

/** The request without its functions, which cannot be sent to a thread. */
type ThreadRequest = Omit<ImportRequest, 'progress'>;

/** The result of an import as clients see it. */
export interface ShownImport extends Omit<ImportResult, 'report'> {
  report: ReportSummary;
}

/**
 * The result of the thread. Its tools are JSON texts, because copying hundreds of objects from the thread would block
 * the event loop.
 */
export interface ThreadResult extends Omit<ShownImport, 'tools'> {
  tools: { sourceId: string; json: string }[];
}

const importJob: Job<ThreadRequest, ThreadResult> = {
  module: new URL('./import-thread.ts', import.meta.url),
  timeMs: IMPORT.timeMs,
};

/**
 * Imports a document in a thread.
 *
 * @param environmentId the environment whose limit of waiting and running imports applies
 * @throws ApiError INVALID_DOCUMENT as `importDocument`, and for a document that takes too much time or memory;
 * RATE_LIMITED if the environment has too many imports, SERVER_BUSY if all environments together have too many
 */
export async function importInThread(
  threads: ThreadPool,
  environmentId: string,
  request: ThreadRequest,
): Promise<ShownImport> {
  const texts = [...request.files, ...(request.overlays ?? [])].map(({ text }) => text);
  const bytes = texts.reduce((sum, text) => sum + text.length, 0);
  try {
    return await parsed(await threads.run(importJob, request, { tenant: environmentId, bytes }));
  } catch (error) {
    if (!(error instanceof JobLimitError)) throw error;
    throw importError(
      'files',
      'take more time or memory than an import is allowed: import fewer operations or smaller files at a time',
      error,
    );
  }
}

async function parsed({ tools, ...result }: ThreadResult): Promise<ShownImport> {
  const turn = createTurns();
  const read: ImportResult['tools'] = [];
  for (const { sourceId, json } of tools) {
    read.push({ sourceId, tool: JSON.parse(json) as Tool });
    await turn(json.length);
  }
  return { ...result, tools: read };
}
