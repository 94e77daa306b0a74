import { StorageError } from '../../db/store.ts';

const MINUTE_MS = 60_000;

/**
 * Returns a function that says whether a log line repeats a line of the last minute about a storage error: the same
 * error code with the same message. A failure of the storage affects every request and background job, and a stack
 * trace for each would fill a disk that is already full.
 *
 * @param now milliseconds UTC
 */
export function createRepeatFilter(now: () => number): (fields: unknown, message: unknown) => boolean {
  const loggedAt = new Map<string, number>();
  return (fields, message) => {
    const error = (fields as { err?: unknown } | null | undefined)?.err;
    if (!(error instanceof StorageError)) return false;
    const line = `${error.code} ${String(message)}`;
    const elapsed = now() - (loggedAt.get(line) ?? Number.NEGATIVE_INFINITY);
    // If the clock was set back, the line is logged.
    if (elapsed >= 0 && elapsed < MINUTE_MS) return true;
    loggedAt.set(line, now());
    return false;
  };
}
