import { closeSync, fsyncSync, mkdirSync, openSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** Makes the entries of a directory durable: files that were made, renamed or removed in it. */
export function syncDirectory(path: string): void {
  const fd = openSync(path, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/**
 * Makes a directory and those above it where they are missing, for its owner alone (mode 0700). Each new entry is synced in the directory
 * above it: without that a power loss could take away the directory with everything in it.
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

/** Of a directory that was there already: a start that was interrupted may have made it, and not synced its entry. */
function syncEntry(path: string): void {
  try {
    syncDirectory(dirname(resolve(path)));
  } catch {
    // The directory above may be closed to this account, which then has not made the entry either.
  }
}
