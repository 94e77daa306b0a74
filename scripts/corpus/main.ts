import { parseArgs } from 'node:util';
import type { CallVerdicts } from './compare-calls.ts';
import { listDocuments, sampled, seeded, shuffled } from './documents.ts';
import { Helper } from './helper.ts';
import { addUp, printReport } from './summary.ts';
import type { DocumentVerdict } from './verdict.ts';

/**
 * The time limit for the import and the checks of one document. It only detects a hang, so it is long enough for a busy
 * machine.
 */
const LIMIT_MS = 300_000;
/** The time limit for comparing the calls of one document. The renderer that they are compared with is slow. */
const COMPARE_LIMIT_MS = 30_000;
const CALLS = 2000;
const options = { sample: { type: 'string' }, seed: { type: 'string' }, only: { type: 'string' } } as const;

/**
 * Imports the corpus or a sample of it, and checks every tool and up to 2,000 calls. Exits with a status other than 0
 * if a rule is violated.
 */
async function main(): Promise<void> {
  const { values } = parseArgs({ options });
  const seed = Number(values.seed || Date.now() % 1_000_000);
  const all = listDocuments();
  const some = all.filter((name) => name.includes(values.only ?? ''));
  const chosen = values.sample ? sampled(some, Number(values.sample), seeded(seed)) : some;
  if (chosen.length === 0) throw new Error('no document was chosen: SAMPLE must be a number');
  const sample = values.sample ? `SAMPLE=${values.sample} ` : '';
  console.log(`corpus         ${chosen.length} of ${all.length} documents (make corpus ${sample}SEED=${seed})`);

  const imports = new Helper<DocumentVerdict>(new URL('import-worker.ts', import.meta.url), LIMIT_MS);
  const verdicts: DocumentVerdict[] = [];
  for (const name of chosen) {
    const verdict = await imports.ask({ name });
    verdicts.push(
      typeof verdict === 'string' ? { name, bytes: 0, milliseconds: 0, refused: false, failure: verdict } : verdict,
    );
  }
  imports.end();

  const comparisons = new Helper<CallVerdicts>(new URL('compare-worker.ts', import.meta.url), COMPARE_LIMIT_MS);
  const calls: { name: string; verdict: CallVerdicts | string }[] = [];
  let compared = 0;
  const imported = verdicts.filter((verdict) => !('failure' in verdict)).map(({ name }) => name);
  for (const [index, name] of shuffled(imported, seeded(seed)).entries()) {
    // Divides the remaining calls among the remaining documents. The share is doubled, because small documents have
    // fewer operations than their share.
    const share = Math.ceil(((CALLS - compared) * 2) / (imported.length - index));
    const verdict = await comparisons.ask({ name, calls: Math.min(share, CALLS - compared), seed: seed + index });
    calls.push({ name, verdict });
    if (typeof verdict !== 'string') compared += verdict.compared;
    if (compared >= CALLS) break;
  }
  comparisons.end();
  if (!printReport(addUp(verdicts, calls), Math.max(imports.memoryBytes, comparisons.memoryBytes)))
    process.exitCode = 1;
}

await main();
