import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, statSync } from 'node:fs';
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
  const missing: string[] = [];
  for (let each = resolve(path); !existsSync(each); each = dirname(each)) missing.unshift(each);
  if (missing.length === 0) syncEntry(path);
  // With the option `recursive`, `mkdirSync` would never return in a file system that reports an existing parent as
  // missing, such as /proc.
  for (const each of missing) createOne(each);
  for (const each of missing.reverse()) syncDirectory(dirname(each));
}

function createOne(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process may have created it in the meantime.
    if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw error;
  }
}

/** Syncs the entry of an existing directory, because an interrupted start may have created it without syncing. */
function syncEntry(path: string): void {
  try {
    syncDirectory(dirname(resolve(path)));
  } catch {
    // The user of this process may have no access to the parent directory. Then the user did not create the entry
    // either.
  }
}
