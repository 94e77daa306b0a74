import { setTimeout as pause } from 'node:timers/promises';
import { STORAGE } from '../../core/budgets.ts';
import { isBusy } from './errors.ts';

/** Resolves after some milliseconds. */
export type Wait = (ms: number) => Promise<unknown>;

const FIRST_PAUSE_MS = 1;
const LONGEST_PAUSE_MS = 50;

export const wait: Wait = (ms) => pause(ms);

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
