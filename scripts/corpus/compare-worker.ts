import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { importDocument } from '../../core/openapi-conversion/import-document.ts';
import { type CallVerdicts, compareCalls } from './compare-calls.ts';
import { CORPUS, MAX_IMPORTED_TOOLS, seeded } from './documents.ts';
import { answerWith } from './helper.ts';

/**
 * Compares calls of the requested documents, as Valetkey and an independent renderer write them. This runs in a
 * separate process, because the other renderer can exhaust memory.
 */
answerWith(compare);

async function compare({ name, calls, seed }: { name: string; calls: number; seed: number }): Promise<CallVerdicts> {
  const text = readFileSync(join(CORPUS, `${name}.json`), 'utf8');
  const files = [{ name: 'document.json', text }];
  const result = await importDocument({ files, connector: 'corpus', limit: MAX_IMPORTED_TOOLS });
  return compareCalls(JSON.parse(text), result, calls, seeded(seed));
}
