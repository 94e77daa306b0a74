import type { Deadline } from '../../core/scheduling/timers.ts';

interface Running {
  ms: number;
  fire(): void;
}

/** Timers that fire only when a test calls `fire`. */
export interface ManualTimers {
  timer: Deadline;
  /** The durations of the running timers, in milliseconds. */
  readonly running: number[];
  /** Returns the number of timers that were started with this duration. */
  started(ms: number): number;
  /** Fires the oldest timer with this duration. */
  fire(ms: number): void;
  /** Resets the counts. */
  forget(): void;
}

export function manualTimers(): ManualTimers {
  const active = new Set<Running>();
  let started: number[] = [];
  return {
    timer(ms, fire) {
      const running = { ms, fire };
      active.add(running);
      started.push(ms);
      return () => void active.delete(running);
    },
    get running() {
      return [...active].map(({ ms }) => ms);
    },
    forget: () => {
      started = [];
    },
    started: (wanted) => started.filter((ms) => ms === wanted).length,
    fire(wanted) {
      const found = [...active].find(({ ms }) => ms === wanted);
      if (!found) throw new Error(`no timer of ${wanted} ms is running`);
      active.delete(found);
      found.fire();
    },
  };
}

/** Resolves when a condition becomes true. The condition is checked in each turn of the event loop. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve));
}
