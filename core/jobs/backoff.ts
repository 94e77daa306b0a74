import { fraction } from '../random.ts';
import type { JobKind } from './job-kind.ts';

/**
 * When the next attempt of a job is made, in milliseconds UTC: after a time that doubles with each attempt, or later where the other
 * side asks for it, but never later than the time at which the job is given up, so that a last attempt is made then.
 *
 * @param attempts that were begun, at least 1
 */
export function nextAttemptAt(
  { firstRestMs, longestRestMs }: Pick<JobKind, 'firstRestMs' | 'longestRestMs'>,
  { attempts, giveUpAt }: { attempts: number; giveUpAt: number },
  { at, random, retryAfterMs = 0 }: { at: number; random(size: number): Buffer; retryAfterMs?: number | undefined },
): number {
  const longest = Math.min(longestRestMs, firstRestMs * 2 ** Math.min(attempts - 1, 32));
  const restMs = longest * (1 - fraction(random) / 2);
  return Math.min(giveUpAt, Math.ceil(at + Math.max(restMs, retryAfterMs)));
}
