import { closeSync, fsyncSync, mkdirSync, openSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** Makes the entries of a directory durable, after files in it were created, renamed or removed. */
export function syncDirectory(path: string): void {
  const fd = openSync(path, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/**
 * Creates a directory with its missing parents, accessible only to the owner (mode 0700). Each new entry is synced in
 * its parent directory; otherwise a power failure could remove the directory with everything in it.
 */
export function makeDirectory(path: string): void {
  const first = mkdirSync(path, { recursive: true, mode: 0o700 });
  if (first === undefined) {
    syncEntry(path);
    return;
  }
  const top = dirname(resolve(first));
  for (let made = resolve(path); made !== top; made = dirname(made)) syncDirectory(dirname(made));
}

/** Syncs the entry of an existing directory, because an interrupted start may have created it without syncing. */
function syncEntry(path: string): void {
  try {
    syncDirectory(dirname(resolve(path)));
  } catch {
    // This account may have no access to the parent directory; then it did not create the entry either.
  }
}
