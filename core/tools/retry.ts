import { TOOL_RESULT } from '../budgets.ts';
import type { ToolError } from './outcome.ts';

/** Bounds of trying a call again. Times are in milliseconds. */
export interface RetryLimits {
  /** Requests of one execution, including retries and refreshes (threat E10). */
  maxRequests: number;
  /** From the first request to the last byte of the last response. */
  deadlineMs: number;
  /** The wait that the first further request is chosen from at random; it doubles. */
  backoffMs: number;
  /** A longer wait, also one that the provider asks for, is the caller's. */
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
 * How long to wait before a failed call is sent again.
 *
 * @param repeatable a second effect is impossible: by the nature of the call, by the provider's key, or because nothing had left
 * @param state requests made so far, milliseconds since the first one, and randomness
 * @returns undefined when it is not to be sent again
 */
export function waitBeforeRetry(
  error: ToolError,
  repeatable: boolean,
  state: { requests: number; elapsedMs: number; random(size: number): Buffer },
  limits: RetryLimits = RETRY_LIMITS,
): number | undefined {
  if (!repeatable || !WORTH_IT.has(error.kind) || state.requests >= limits.maxRequests) return undefined;
  // 501: it will not do this later either.
  if (error.upstreamStatus === 501) return undefined;
  const backoff = Math.round(limits.backoffMs * 2 ** (state.requests - 1) * share(state.random));
  const wait = Math.max(error.retryAfterMs ?? 0, backoff);
  return wait > limits.maxWaitMs || state.elapsedMs + wait >= limits.deadlineMs ? undefined : wait;
}

/** Between a half and one: those who failed together do not come back together. */
function share(random: (size: number) => Buffer): number {
  return 0.5 + (random(2).readUInt16BE() / 0xffff) * 0.5;
}
