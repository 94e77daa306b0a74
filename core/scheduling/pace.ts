/** Resolves when the caller may start. A caller whose signal is aborted does not delay the callers after it. */
export type Pace = (signal: AbortSignal) => Promise<void>;

export interface PaceDeps {
  /** Waits a number of milliseconds. */
  wait(ms: number): Promise<void>;
  /** Returns the part of the time since the last call in which the event loop was busy, from 0 to 1. */
  utilization(): number;
}

/**
 * Callers start in groups, because concurrent work can share transactions. A group has as many callers as the rate
 * allows in this time, in milliseconds, but at least one.
 */
const BURST_MS = 20;
/** The part of the rate that callers get while the event loop is always busy. */
const LEAST_SHARE = 1 / 4;

/**
 * Lets callers start at a limited rate, in order, so that a long queue leaves most of the processor time to requests.
 * The busier the event loop, the lower the rate, down to a quarter of it. After a time without callers, the first ones
 * start immediately.
 *
 * @param perSecond starts per second; null for no limit
 */
export function createPace(perSecond: number | null, { wait, utilization }: PaceDeps): Pace {
  if (perSecond === null) return async () => {};
  const burst = Math.max(1, Math.floor((perSecond * BURST_MS) / 1000));
  let turn = Promise.resolve();
  let started = 0;
  /** Timers wait whole milliseconds, so a fraction is added to the next wait. */
  let dueMs = 0;
  const waitForRate = (): Promise<void> => {
    const share = Math.max(LEAST_SHARE, 1 - utilization());
    dueMs += (burst * 1000) / perSecond / share;
    const waitMs = Math.floor(dueMs);
    dueMs -= waitMs;
    return waitMs === 0 ? nextTurn() : wait(waitMs);
  };
  return (signal) => {
    const ownTurn = turn;
    turn = ownTurn.then(() => {
      if (signal.aborted) return undefined;
      // Lets the event loop handle requests before the next caller starts.
      return ++started % burst === 0 ? waitForRate() : nextTurn();
    });
    return ownTurn;
  };
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Measures this process. @returns the `utilization` of `PaceDeps` */
export function createUtilization(): () => number {
  let last = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    return utilization;
  };
}
