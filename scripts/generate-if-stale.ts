import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DIGEST_FILE, sourceDigest } from './source-digest.ts';

/** Writes `generated/` when a source has changed since; the linters and generators are loaded only then. */
const file = join(import.meta.dirname, '../generated', DIGEST_FILE);
const written = existsSync(file) ? readFileSync(file, 'utf8') : '';
if (written !== sourceDigest()) {
  const { write } = await import('./generate.ts');
  await write();
}
