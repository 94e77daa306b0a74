import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Creates a folder for one test server or store. @returns its path, and a function that removes it */
export function tempDir(): { path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'valetkey-test-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}
