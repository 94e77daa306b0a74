/** The clock of this process, which can follow the clock that it shares with other processes. */
export interface Clock {
  /** Milliseconds UTC. */
  now(): number;
  /**
   * Sets this clock to another clock. Call it periodically. Between two calls, this clock advances with `elapsed`, so
   * changes to the clock of the machine do not affect it.
   *
   * @param read returns the time of the other clock, in milliseconds UTC
   * @throws the error of `read`; then this clock continues as before
   */
  follow(read: () => Promise<number>): Promise<void>;
}

/**
 * The maximum duration of a reading in milliseconds. A longer reading is only used if it is the first one, because the
 * time that was read may be wrong by half of the duration.
 */
const EXACT_MS = 1000;

/**
 * Creates a clock that shows the time of this machine until it follows another clock.
 *
 * @param machine milliseconds UTC
 * @param elapsed a monotonic clock in milliseconds; changes to the clock of the machine do not affect it
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
      // Assumes that the other clock was read halfway between `asked` and `answered`.
      if (start === undefined || answered - asked <= EXACT_MS) start = at - (asked + answered) / 2;
    },
  };
}
