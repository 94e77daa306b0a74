import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Reads a file of `generated/` as text. */
export function readGenerated(name: string): string {
  return readFileSync(join(import.meta.dirname, '../generated', name), 'utf8');
}
