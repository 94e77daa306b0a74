import type { ImportResult } from '../import/import-document.ts';
import type { ImportReport } from '../import/report.ts';
import type { ImportChanges } from './apply-import.ts';

/** The maximum number of entries of a list in a response; the counts include all of them. */
const MAX_ENTRIES = 500;

/** Returns an import as the API and the CLI show it: the changes, and what could not be imported. */
export function presentImport(applied: boolean, { provider, ...changes }: ImportChanges, { report }: ImportResult) {
  const { left_out, notes, operations, imported, credentials, warnings } = report;
  return {
    applied,
    provider,
    changes,
    report: {
      operations,
      imported,
      left_out_counts: count(left_out.map(({ reason }) => reason)),
      left_out: left_out.slice(0, MAX_ENTRIES),
      note_counts: count(notes.map(({ kind }) => kind)),
      notes: notes.slice(0, MAX_ENTRIES).map((note) => ({ ...note, detail: note.detail.slice(0, 500) })),
      credentials,
      warnings,
    } satisfies ImportReport & { left_out_counts: object; note_counts: object },
  };
}

function count(keys: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const key of keys) counts[key] = (counts[key] ?? 0) + 1;
  return counts;
}
