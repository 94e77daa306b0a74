import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { importDocument } from '../../core/openapi-conversion/import-document.ts';
import { checkTools } from './check-tools.ts';
import { CORPUS, MAX_IMPORTED_TOOLS } from './documents.ts';
import { answerWith } from './helper.ts';
import type { DocumentVerdict } from './verdict.ts';

/** Imports the requested documents, one at a time, and posts the result of each. */
answerWith(examineDocument);

async function examineDocument({ name }: { name: string }): Promise<DocumentVerdict> {
  const text = readFileSync(join(CORPUS, `${name}.json`), 'utf8');
  // The processor time of this thread is measured, because the machine may also be doing other work.
  const started = process.threadCpuUsage();
  const elapsed = () => {
    const { user, system } = process.threadCpuUsage(started);
    return (user + system) / 1000;
  };
  try {
    const result = await importDocument({
      files: [{ name: 'document.json', text }],
      connector: 'corpus',
      limit: MAX_IMPORTED_TOOLS,
    });
    const milliseconds = elapsed();
    return {
      name,
      bytes: text.length,
      milliseconds,
      operations: result.report.operations,
      imported: result.report.imported,
      leftOut: count(result.report.left_out.map(({ reason }) => reason)),
      unreadable: result.report.left_out
        .filter(({ reason }) => reason === 'UNREADABLE' || reason === 'PATH')
        .map((entry) => `${name} ${entry.source_id}: ${entry.reason} ${entry.detail ?? ''}`),
      notes: count(result.report.notes.map(({ kind }) => kind)),
      faults: checkTools(result),
    };
  } catch (error) {
    const refused = error instanceof Error && error.name === 'ApiError';
    const failure = error instanceof Error ? (refused ? error.message : (error.stack ?? error.message)) : String(error);
    return { name, bytes: text.length, milliseconds: elapsed(), refused, failure };
  }
}

function count(keys: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const key of keys) counts[key] = (counts[key] ?? 0) + 1;
  return counts;
}
