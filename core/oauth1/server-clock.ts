/** A Date header has a resolution of a second, and a response takes some time, so smaller differences are ignored. */
const NOTABLE_MS = 10_000;
/** Larger differences are ignored, so that a server cannot make Valetkey sign for any time it chooses. */
const CREDIBLE_MS = 24 * 3_600_000;

/**
 * Returns how far a server's clock is ahead of ours, according to the Date header of its response (RFC 9110 §6.6.1). A
 * server may reject a signed request because of its timestamp; then the request can be signed again with the server's
 * time.
 *
 * @param now milliseconds UTC
 * @returns milliseconds, negative if the server's clock is behind; undefined without a Date header, or if the
 * difference is too small or too large
 */
export function clockDifference(headers: Headers, now: number): number | undefined {
  const date = headers.get('date');
  if (date === null) return undefined;
  const difference = Date.parse(date) - now;
  const size = Math.abs(difference);
  return size > NOTABLE_MS && size < CREDIBLE_MS ? difference : undefined;
}

/** The outcome of an attempt, and how far the server's clock is ahead if the attempt was rejected. */
export interface TimedAttempt<Outcome> {
  outcome: Outcome;
  clockDifference?: number | undefined;
}

/**
 * Sends a request that is signed with the time. A server whose clock differs rejects it as expired or not yet valid;
 * then it is signed and sent once more with the server's time.
 *
 * @param attempt signs and sends the request; receives the milliseconds to add to our time for the signature
 */
export async function sendByServerClock<Outcome>(
  attempt: (aheadMs: number) => Promise<TimedAttempt<Outcome>>,
): Promise<Outcome> {
  const { outcome, clockDifference: aheadMs } = await attempt(0);
  return aheadMs === undefined ? outcome : (await attempt(aheadMs)).outcome;
}
