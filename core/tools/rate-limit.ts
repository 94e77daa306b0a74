import type { RateLimitHeaders, ResetUnit } from '../connectors/provider.ts';
import { headerOf, type ResponseHeaders } from './response-headers.ts';

/** The rate limit that a response reports. */
export interface RateLimitState {
  remaining?: number;
  /**
   * Milliseconds until another call may succeed, according to Retry-After. Without Retry-After, according to the
   * vendor's reset header, unless the response reports that calls remain. undefined if unknown.
   */
  retryAfterMs?: number;
  /** Whether the response had a valid Retry-After header. */
  asked: boolean;
}

const DURATION_UNITS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/**
 * Reads Retry-After (RFC 9110 §10.2.3) and a vendor's rate-limit headers.
 *
 * @param headers names in lower case
 * @param names the names of the vendor's headers
 * @param now milliseconds UTC
 */
export function readRateLimit(
  headers: ResponseHeaders,
  names: RateLimitHeaders | undefined,
  now: number,
): RateLimitState {
  const header = (name: string | undefined) => (name === undefined ? undefined : headerOf(headers, name.toLowerCase()));
  const asked = retryAfter(headerOf(headers, 'retry-after'), now);
  const remaining = numberOf(header(names?.remaining_header));
  const reset = names?.reset_unit && untilReset(header(names.reset_header), names.reset_unit, now);
  return {
    remaining,
    retryAfterMs: asked ?? (remaining === undefined || remaining <= 0 ? reset : undefined),
    asked: asked !== undefined,
  };
}

/**
 * Whether a response means that a rate limit was exceeded: its status is 429, or its status is one of the provider's
 * `statuses` and the response has a Retry-After header or reports that no calls remain.
 */
export function meansRateLimited(status: number, names: RateLimitHeaders | undefined, state: RateLimitState): boolean {
  if (status === 429) return true;
  return (
    (names?.statuses ?? []).includes(status) && (state.asked || (state.remaining !== undefined && state.remaining <= 0))
  );
}

function retryAfter(value: string | undefined, now: number): number | undefined {
  if (value === undefined) return undefined;
  const seconds = numberOf(value);
  if (seconds !== undefined) return Math.ceil(seconds * 1000);
  return notBefore(value.endsWith('GMT') ? Date.parse(value) : Number.NaN, now);
}

function untilReset(value: string | undefined, unit: ResetUnit, now: number): number | undefined {
  if (value === undefined) return undefined;
  if (unit === 'rfc3339') return notBefore(Date.parse(value), now);
  if (unit === 'duration') return duration(value);
  const number = numberOf(value);
  if (number === undefined) return undefined;
  if (unit === 'seconds') return Math.ceil(number * 1000);
  return notBefore(unit === 'epoch_seconds' ? number * 1000 : number, now);
}

/** Reads durations such as 6m0s, 1.5s and 20ms. */
function duration(text: string): number | undefined {
  if (!/^(\d{1,9}(\.\d{1,9})?(ms|[smhd]))+$/.test(text)) return undefined;
  const parts = [...text.matchAll(/([\d.]+)(ms|[smhd])/g)];
  return Math.ceil(
    parts.reduce((sum, [, amount, unit]) => sum + Number(amount) * (DURATION_UNITS[unit ?? ''] ?? 0), 0),
  );
}

function notBefore(time: number, now: number): number | undefined {
  return Number.isFinite(time) ? Math.max(0, Math.ceil(time - now)) : undefined;
}

function numberOf(value: string | undefined): number | undefined {
  return value !== undefined && /^\d{1,15}(\.\d{1,6})?$/.test(value.trim()) ? Number(value) : undefined;
}
