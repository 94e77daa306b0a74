import { StorageError } from '../db/store.ts';

const MINUTE_MS = 60_000;

/**
 * Tells which lines of the log say again what was said within the last minute: a failure of the storage reaches every request and every
 * background job, and a stack for each would fill the disk that is full already.
 *
 * @param now milliseconds UTC
 */
export function createRepeatFilter(now: () => number): (fields: unknown, message: unknown) => boolean {
  const saidAt = new Map<string, number>();
  return (fields, message) => {
    const error = (fields as { err?: unknown } | null | undefined)?.err;
    if (!(error instanceof StorageError)) return false;
    const line = `${error.code} ${String(message)}`;
    const elapsed = now() - (saidAt.get(line) ?? Number.NEGATIVE_INFINITY);
    // A clock that was set back must not silence the log.
    if (elapsed >= 0 && elapsed < MINUTE_MS) return true;
    saidAt.set(line, now());
    return false;
  };
}
