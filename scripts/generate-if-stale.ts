import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { changedSources, DIGEST_FILE } from './source-digest.ts';

/**
 * Updates `generated/` if a source has changed since the last run. The generators are only loaded in this case. With
 * `--check`, it only fails if a source has changed. It then loads no generators, because their packages may not be
 * installed.
 */
const file = join(import.meta.dirname, '../generated', DIGEST_FILE);
const changed = changedSources(existsSync(file) ? readFileSync(file, 'utf8') : '');
if (changed.length > 0 && process.argv.includes('--check')) process.exitCode = 1;
else if (changed.length > 0) {
  const { report, write } = await import('./generate.ts');
  await report(write(changed));
}
