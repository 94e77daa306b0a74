import { LRUCache } from 'lru-cache';

/** The state of one caller's rate limit after a request. */
export interface Allowance {
  allowed: boolean;
  /** The number of requests that are allowed immediately after this one. */
  remaining: number;
  /**
   * Whole seconds, at least 1: until the bucket is full again; after a rejection, until the next request is allowed.
   */
  resetSeconds: number;
}

const WINDOW_MS = 1000;
const MAX_CALLERS = 10_000;

/**
 * Limits requests with a token bucket per caller, which is refilled continuously. The number of buckets is limited; the
 * least recently used ones are removed, which can only give a caller a full bucket.
 *
 * @param perSecond the maximum number of requests per second over all processes that share the limit, and the largest
 *   burst of requests in each process
 * @param now milliseconds UTC
 * @param processes returns how many processes share the limit; each admits its part, at least one request per second
 */
export function createRateLimiter(
  perSecond: number,
  now: () => number,
  processes: () => number = () => 1,
): (caller: string) => Allowance {
  const buckets = new LRUCache<string, { tokens: number; at: number }>({ max: MAX_CALLERS });
  return (caller) => {
    const at = now();
    const refill = Math.max(1, perSecond / processes());
    const bucket = buckets.get(caller) ?? { tokens: perSecond, at };
    const elapsed = Math.max(0, at - bucket.at);
    bucket.tokens = Math.min(perSecond, bucket.tokens + (elapsed / WINDOW_MS) * refill);
    bucket.at = at;
    const allowed = bucket.tokens >= 1;
    if (allowed) bucket.tokens -= 1;
    buckets.set(caller, bucket);
    const missing = allowed ? perSecond - bucket.tokens : 1 - bucket.tokens;
    return { allowed, remaining: Math.floor(bucket.tokens), resetSeconds: Math.max(1, Math.ceil(missing / refill)) };
  };
}

/** Returns the headers of draft-ietf-httpapi-ratelimit-headers, and Retry-After for a rejection. */
export function rateLimitHeaders(perSecond: number, state: Allowance): Record<string, string> {
  return {
    'ratelimit-policy': `"client";q=${perSecond};w=1`,
    ratelimit: `"client";r=${state.remaining};t=${state.resetSeconds}`,
    ...(!state.allowed && { 'retry-after': String(state.resetSeconds) }),
  };
}
