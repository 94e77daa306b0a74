import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const SOURCES = ['catalogue', 'spec'] as const;

/** A folder that files in `generated/` are generated from. */
export type Source = (typeof SOURCES)[number];

/**
 * The name of the file with the sources' digests. With it, a start can check within milliseconds whether a source has
 * changed.
 */
export const DIGEST_FILE = 'sources.sha256';

/** Returns the digest of each source folder, one line each, in the format of `DIGEST_FILE`. */
export function sourceDigests(): string {
  return SOURCES.map((source) => `${digestOf(source)}  ${source}\n`).join('');
}

/** Returns the sources that have changed since the given digests were written. */
export function changedSources(written: string): Source[] {
  const known = new Set(written.split('\n'));
  return SOURCES.filter((source) => !known.has(`${digestOf(source)}  ${source}`));
}

function digestOf(source: Source): string {
  const hash = createHash('sha256');
  for (const file of filesBelow(source).sort()) {
    hash
      .update(`${relative(ROOT, file)}\0`)
      .update(readFileSync(file))
      .update('\0');
  }
  return hash.digest('hex');
}

function filesBelow(folder: string): string[] {
  const entries = readdirSync(join(ROOT, folder), { withFileTypes: true, recursive: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}
