/** The clock of this process, which can follow the clock that it shares with other processes. */
export interface Clock {
  /** Milliseconds UTC. */
  now(): number;
  /**
   * Sets the clock by another one. Call it periodically: in between, the clock advances with the time that has passed,
   * and changes to the clock of this machine have no effect on it.
   *
   * @param read returns the other clock, in milliseconds UTC
   * @throws the error of `read`; then the clock continues as before
   */
  follow(read: () => Promise<number>): Promise<void>;
}

/** A reading that took longer is not used after the first one, because it is inexact by up to half of this time. */
const EXACT_MS = 1000;

/**
 * Creates a clock that shows the time of this machine until it follows another clock.
 *
 * @param machine milliseconds UTC
 * @param elapsed milliseconds since some moment, which no change to the clock of the machine affects
 */
export function createClock(machine: () => number = Date.now, elapsed: () => number = () => performance.now()): Clock {
  /** The time of the other clock when `elapsed` was 0. */
  let start: number | undefined;
  return {
    now: () => (start === undefined ? machine() : Math.floor(start + elapsed())),
    async follow(read) {
      const asked = elapsed();
      const at = await read();
      const answered = elapsed();
      // On average, the clock was read in the middle of that time.
      if (start === undefined || answered - asked <= EXACT_MS) start = at - (asked + answered) / 2;
    },
  };
}
