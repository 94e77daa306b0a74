import { TOOL_RESULT } from '../budgets.ts';
import type { ToolError } from './outcome.ts';

/** Limits for repeating a request. Times are in milliseconds. */
export interface RetryLimits {
  /**
   * The maximum number of times that one request is sent, including those after an error or a refresh (threat E10). An
   * execution can have several requests: the steps of its tool, and the pages of its result.
   */
  maxRequests: number;
  /** The maximum time from the beginning of a call, including its steps, to the last byte of its last response. */
  deadlineMs: number;
  /** The wait after the first request. The wait doubles with each request. A random part, up to half, is subtracted. */
  backoffMs: number;
  /** The maximum wait. If the provider requests a longer wait, the call is not repeated; the caller can repeat it. */
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
 * @param state the number of requests so far, milliseconds since the call began, and a source of random bytes
 * @returns milliseconds; undefined if the call is not repeated, because it is not repeatable, the error is not
 * temporary, or a limit is reached
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
