/** A Date header has a resolution of a second, and a response takes some time, so smaller differences are ignored. */
const NOTABLE_MS = 10_000;
/** A server cannot make us sign for any time it likes. */
const CREDIBLE_MS = 24 * 3_600_000;

/**
 * How far a server's clock is ahead of ours, by the Date of its response (RFC 9110 §6.6.1). For rejected requests with a
 * timestamp: a retry with the server's time shows whether the clocks were the reason.
 *
 * @param now milliseconds UTC
 * @returns milliseconds, negative if the server is behind; undefined if there is no date or no relevant difference
 */
export function clockDifference(headers: Headers, now: number): number | undefined {
  const date = headers.get('date');
  if (date === null) return undefined;
  const difference = Date.parse(date) - now;
  const size = Math.abs(difference);
  return size > NOTABLE_MS && size < CREDIBLE_MS ? difference : undefined;
}
