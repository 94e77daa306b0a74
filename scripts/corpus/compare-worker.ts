import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parentPort } from 'node:worker_threads';
import { importDocument } from '../../core/openapi-conversion/import-document.ts';
import { type CallVerdicts, compareCalls } from './compare-calls.ts';
import { CORPUS, MAX_IMPORTED_TOOLS, seeded } from './documents.ts';

/** Compares the calls of the given documents. It runs in a thread, because the other renderer can exhaust memory. */
parentPort?.on('message', async ({ name, calls, seed }: { name: string; calls: number; seed: number }) => {
  parentPort?.postMessage(await compare(name, calls, seed));
});

async function compare(name: string, calls: number, seed: number): Promise<CallVerdicts> {
  const text = readFileSync(join(CORPUS, `${name}.json`), 'utf8');
  const files = [{ name: 'document.json', text }];
  const result = await importDocument({ files, connector: 'corpus', limit: MAX_IMPORTED_TOOLS });
  return compareCalls(JSON.parse(text), result, calls, seeded(seed));
}
