import { LRUCache } from 'lru-cache';

/** The state of one caller's allowance after a request. */
export interface Allowance {
  allowed: boolean;
  /** Requests left now. */
  remaining: number;
  /** Whole seconds until the allowance is full again, at least 1. */
  resetSeconds: number;
}

const WINDOW_MS = 1000;
const MAX_CALLERS = 10_000;

/**
 * A token bucket per caller, refilled steadily. A bounded table: the callers used longest ago are forgotten first, which can
 * only give a caller a full bucket back.
 *
 * @param perSecond requests per second and the size of a burst
 * @param now milliseconds UTC
 */
export function createRateLimiter(perSecond: number, now: () => number): (caller: string) => Allowance {
  const buckets = new LRUCache<string, { tokens: number; at: number }>({ max: MAX_CALLERS });
  return (caller) => {
    const at = now();
    const bucket = buckets.get(caller) ?? { tokens: perSecond, at };
    const elapsed = Math.max(0, at - bucket.at);
    bucket.tokens = Math.min(perSecond, bucket.tokens + (elapsed / WINDOW_MS) * perSecond);
    bucket.at = at;
    const allowed = bucket.tokens >= 1;
    if (allowed) bucket.tokens -= 1;
    buckets.set(caller, bucket);
    const missing = allowed ? perSecond - bucket.tokens : 1 - bucket.tokens;
    return { allowed, remaining: Math.floor(bucket.tokens), resetSeconds: Math.max(1, Math.ceil(missing / perSecond)) };
  };
}

/** The header fields of draft-ietf-httpapi-ratelimit-headers, and Retry-After for a refusal. */
export function rateLimitHeaders(perSecond: number, state: Allowance): Record<string, string> {
  return {
    'ratelimit-policy': `"client";q=${perSecond};w=1`,
    ratelimit: `"client";r=${state.remaining};t=${state.resetSeconds}`,
    ...(!state.allowed && { 'retry-after': String(state.resetSeconds) }),
  };
}
