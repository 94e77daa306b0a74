import { setTimeout as pause } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { STORAGE } from '../../core/budgets.ts';
import { StorageError } from '../errors.ts';

/** Resolves after some milliseconds. */
export type Wait = (ms: number) => Promise<unknown>;

const FIRST_PAUSE_MS = 1;
const LONGEST_PAUSE_MS = 50;

export const wait: Wait = (ms) => pause(ms);

/**
 * Whether an error of the driver, or ours, says that a lock is in the way: that of another process, or of a transaction of this one that
 * lasts for several turns (LOCKED, for a checkpoint). Nothing has happened then.
 */
export function isBusy(error: unknown): boolean {
  if (!(error instanceof Database.SqliteError) && !(error instanceof StorageError)) return false;
  return /^SQLITE_(BUSY|LOCKED|PROTOCOL)/.test(error.code);
}

/** The pauses between attempts, in milliseconds: 1, 2, 4 and so on up to 50. */
export function pauseAfter(previousMs: number): number {
  return previousMs === 0 ? FIRST_PAUSE_MS : Math.min(2 * previousMs, LONGEST_PAUSE_MS);
}

/**
 * Tries something until no lock of another process is in the way. SQLite could wait by itself (`busy_timeout`), but it would hold up
 * the event loop meanwhile.
 *
 * @throws what the last attempt threw, when the lock was held for `STORAGE.lockWaitMs`; immediately what is not about a lock
 */
export async function untilFree<T>(attempt: () => T | Promise<T>, waitFor: Wait = wait): Promise<T> {
  for (let waitedMs = 0, pauseMs = 0; ; waitedMs += pauseMs) {
    try {
      return await attempt();
    } catch (error) {
      if (!isBusy(error) || waitedMs >= STORAGE.lockWaitMs) throw error;
      pauseMs = pauseAfter(pauseMs);
      await waitFor(pauseMs);
    }
  }
}
