import type { ReportSummary } from '../openapi-conversion/report-summary.ts';
import type { ImportChanges } from './apply-import.ts';

/** An import as the API and the command show it: the changes, and what could not be imported. */
export function presentImport(applied: boolean, { provider, ...changes }: ImportChanges, report: ReportSummary) {
  return { applied, provider, changes, report };
}
