/** A Date header has a resolution of a second, and an answer takes a while: less is no difference. */
const NOTABLE_MS = 10_000;
/** A server cannot make us sign for any time it likes. */
const CREDIBLE_MS = 24 * 3_600_000;

/**
 * How far a server's clock is ahead of ours, by the Date of its answer (RFC 9110 §6.6.1). For requests that carry a time and were
 * refused: made again with the server's time they show whether the clocks were the reason.
 *
 * @param now milliseconds UTC
 * @returns milliseconds, negative when the server is behind; undefined when it gives no time, or none that tells a difference
 */
export function clockDifference(headers: Headers, now: number): number | undefined {
  const date = headers.get('date');
  if (date === null) return undefined;
  const difference = Date.parse(date) - now;
  const size = Math.abs(difference);
  return size > NOTABLE_MS && size < CREDIBLE_MS ? difference : undefined;
}
