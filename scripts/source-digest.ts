import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const SOURCES = ['catalogue', 'spec'];

/** Stands beside what was generated, so that a start can tell in milliseconds whether a source has changed since. */
export const DIGEST_FILE = 'sources.sha256';

/** A digest of every file that `generated/` follows from. */
export function sourceDigest(): string {
  const hash = createHash('sha256');
  for (const file of SOURCES.flatMap(filesBelow).sort()) {
    hash
      .update(`${relative(ROOT, file)}\0`)
      .update(readFileSync(file))
      .update('\0');
  }
  return `${hash.digest('hex')}\n`;
}

function filesBelow(folder: string): string[] {
  const entries = readdirSync(join(ROOT, folder), { withFileTypes: true, recursive: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}
