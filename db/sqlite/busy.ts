import { setTimeout as pause } from 'node:timers/promises';
import { STORAGE } from '../../core/budgets.ts';
import { isBusy } from './errors.ts';

/** Resolves after this many milliseconds. */
export type Wait = (ms: number) => Promise<unknown>;

const FIRST_PAUSE_MS = 1;
const LONGEST_PAUSE_MS = 50;

export const wait: Wait = (ms) => pause(ms);

/** Returns the pause before the next attempt, in milliseconds: 1, 2, 4 and so on up to 50. */
export function pauseAfter(previousMs: number): number {
  return previousMs === 0 ? FIRST_PAUSE_MS : Math.min(2 * previousMs, LONGEST_PAUSE_MS);
}

/**
 * Repeats an attempt until it is not blocked by a lock of another process. SQLite's own waiting (`busy_timeout`) is not
 * used, because it would block the event loop.
 *
 * @throws the last error if the lock was held for `STORAGE.lockWaitMs`; any error that does not concern a lock,
 * immediately
 */
export async function retryWhileLocked<T>(attempt: () => T | Promise<T>, waitFor: Wait = wait): Promise<T> {
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
