import { type ImportRequest, importDocument } from './import-document.ts';
import type { ThreadResult } from './import-job.ts';
import { summarizeReport } from './report-summary.ts';

/** The work of `importJob`, in its thread. */
export async function run(request: ImportRequest): Promise<ThreadResult> {
  const { tools, report, ...result } = await importDocument(request);
  return {
    ...result,
    tools: tools.map(({ sourceId, tool }) => ({ sourceId, json: JSON.stringify(tool) })),
    report: summarizeReport(report),
  };
}
