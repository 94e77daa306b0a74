import { fraction } from '../random.ts';
import type { JobKind } from './job-kind.ts';

/**
 * Returns when the next attempt of a job is made, in milliseconds UTC. The wait doubles with each attempt and is
 * shortened by a random part, up to half of it; it is longer if the provider asks for that. The attempt is never later
 * than the time at which the job is given up, so that a last attempt is made then.
 *
 * @param attempts that were started, at least 1
 */
export function nextAttemptAt(
  { firstDelayMs, longestDelayMs }: Pick<JobKind, 'firstDelayMs' | 'longestDelayMs'>,
  { attempts, giveUpAt }: { attempts: number; giveUpAt: number },
  { at, random, retryAfterMs = 0 }: { at: number; random(size: number): Buffer; retryAfterMs?: number | undefined },
): number {
  const longest = Math.min(longestDelayMs, firstDelayMs * 2 ** Math.min(attempts - 1, 32));
  const delayMs = longest * (1 - fraction(random) / 2);
  return Math.min(giveUpAt, Math.ceil(at + Math.max(delayMs, retryAfterMs)));
}
