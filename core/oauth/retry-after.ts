/**
 * Reads Retry-After (RFC 9110 §10.2.3), which contains seconds or a date.
 *
 * @param now milliseconds UTC
 * @returns milliseconds to wait; undefined if the header is missing or invalid
 */
export function readRetryAfter(value: string | null, now: number): number | undefined {
  if (value === null) return undefined;
  if (/^\d{1,9}$/.test(value.trim())) return Number(value) * 1000;
  const at = Date.parse(value);
  return Number.isFinite(at) ? Math.max(0, at - now) : undefined;
}
