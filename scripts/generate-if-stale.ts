import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { changedSources, DIGEST_FILE } from './source-digest.ts';

/** Writes `generated/` when a source has changed since; the generators are loaded only then. */
const file = join(import.meta.dirname, '../generated', DIGEST_FILE);
const changed = changedSources(existsSync(file) ? readFileSync(file, 'utf8') : '');
if (changed.length > 0) {
  const { report, write } = await import('./generate.ts');
  await report(write(changed));
}
