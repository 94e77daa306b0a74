import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const SOURCES = ['catalogue', 'spec'] as const;

/** A folder from which files in `generated/` follow. */
export type Source = (typeof SOURCES)[number];

/** Stored beside what was generated, so that a start can tell in milliseconds whether a source has changed since. */
export const DIGEST_FILE = 'sources.sha256';

/** The digest of each source folder, one line each, as `DIGEST_FILE` has it. */
export function sourceDigests(): string {
  return SOURCES.map((source) => `${digestOf(source)}  ${source}\n`).join('');
}

/** The sources that have changed since some digests were written. */
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
