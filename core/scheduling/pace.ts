/** Resolves when the caller may start. @param signal ends the waits that it finds aborted */
export type Pace = (signal: AbortSignal) => Promise<void>;

/**
 * Lets callers start at a limited rate, in order, so that a long queue leaves most of the processor time to requests.
 * After a pause the first caller starts immediately.
 *
 * @param perSecond starts per second; null for no limit
 * @param wait waits a number of milliseconds
 */
export function createPace(perSecond: number | null, wait: (ms: number) => Promise<void>): Pace {
  if (perSecond === null) return async () => {};
  let turn = Promise.resolve();
  /** Timers count whole milliseconds: the rest is kept for the next wait. */
  let owedMs = 0;
  return (signal) => {
    const mine = turn;
    turn = mine.then(() => {
      owedMs += 1000 / perSecond;
      const restMs = Math.floor(owedMs);
      owedMs -= restMs;
      return restMs === 0 || signal.aborted ? undefined : wait(restMs);
    });
    return mine;
  };
}
