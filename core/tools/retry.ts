import { TOOL_RESULT } from '../budgets.ts';
import type { ToolError } from './outcome.ts';

/** Limits for repeating a call. Times are in milliseconds. */
export interface RetryLimits {
  /** Requests of one execution, including retries and refreshes (threat E10). */
  maxRequests: number;
  /** From the first request of an execution to the last byte of its last response. */
  deadlineMs: number;
  /** The base of the random wait before the first retry; it doubles with each retry. */
  backoffMs: number;
  /** If a longer wait is needed, or requested by the provider, the caller must retry. */
  maxWaitMs: number;
}

export const RETRY_LIMITS: Readonly<RetryLimits> = {
  maxRequests: TOOL_RESULT.requests,
  deadlineMs: TOOL_RESULT.deadlineMs,
  backoffMs: 250,
  maxWaitMs: TOOL_RESULT.retryWaitMs,
};

const WORTH_IT: ReadonlySet<ToolError['kind']> = new Set([
  'upstream_rate_limited',
  'upstream_server_error',
  'upstream_unreachable',
]);

/**
 * Returns how long to wait before a failed call is repeated.
 *
 * @param repeatable whether a second effect is impossible: the call is idempotent, has an idempotency key, or was not
 * sent
 * @param state the requests so far, milliseconds since the first one, and randomness
 * @returns milliseconds; undefined if the call must not be repeated
 */
export function waitBeforeRetry(
  error: ToolError,
  repeatable: boolean,
  state: { requests: number; elapsedMs: number; random(size: number): Buffer },
  limits: RetryLimits = RETRY_LIMITS,
): number | undefined {
  if (!repeatable || !WORTH_IT.has(error.kind) || state.requests >= limits.maxRequests) return undefined;
  // 501 Not Implemented is not temporary.
  if (error.upstreamStatus === 501) return undefined;
  const backoff = Math.round(limits.backoffMs * 2 ** (state.requests - 1) * share(state.random));
  const wait = Math.max(error.retryAfterMs ?? 0, backoff);
  return wait > limits.maxWaitMs || state.elapsedMs + wait >= limits.deadlineMs ? undefined : wait;
}

/** Returns a random factor between a half and one, so that calls that failed together are not repeated together. */
function share(random: (size: number) => Buffer): number {
  return 0.5 + (random(2).readUInt16BE() / 0xffff) * 0.5;
}
