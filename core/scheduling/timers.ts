import { setTimeout as sleep } from 'node:timers/promises';
import { inBackground, type ReportFailure } from './background.ts';

export interface Timer {
  /**
   * Runs the work after this many milliseconds. Further calls before this time do not cause another run. If a run is
   * still in progress at this time, the new run starts when it has ended.
   */
  soon(ms: number): void;
  /**
   * Starts no more runs and aborts the signal. Waits for the current run, but not longer than the limit in
   * milliseconds.
   */
  stop(limitMs?: number): Promise<void>;
}

export interface TimerOptions {
  /**
   * Milliseconds between two runs. A run that is due while another is running is skipped. If omitted, the work only
   * runs after `soon`.
   */
  everyMs?: number;
  /** Receives the error if the work fails; the work runs again at its next time. */
  failed: ReportFailure;
}

/**
 * Runs work repeatedly on the real clock. Runs never overlap, a failed run does not stop the timer, and the timer does
 * not keep the process alive.
 *
 * @param work receives a signal that is aborted when the timer stops
 */
export function startTimer(work: (signal: AbortSignal) => unknown, { everyMs, failed }: TimerOptions): Timer {
  const ending = new AbortController();
  let asked: NodeJS.Timeout | null = null;
  let running: Promise<void> | null = null;
  let isAskedAgain = false;

  function run(): void {
    if (running || ending.signal.aborted) return;
    running = inBackground(() => work(ending.signal), failed).then(() => {
      running = null;
      if (isAskedAgain) run();
    });
    isAskedAgain = false;
  }

  function runAsked(): void {
    asked = null;
    if (running) isAskedAgain = true;
    else run();
  }

  const interval = everyMs === undefined ? null : setInterval(run, everyMs).unref();
  return {
    soon(ms) {
      if (!ending.signal.aborted) asked ??= setTimeout(runAsked, ms).unref();
    },
    async stop(limitMs) {
      ending.abort();
      if (interval) clearInterval(interval);
      if (asked) clearTimeout(asked);
      if (running) await withinLimit(running, limitMs);
    },
  };
}

/**
 * Calls a function once, after some milliseconds. Returns a function that cancels the call. Tests use a deadline that
 * they control.
 */
export type Deadline = (ms: number, passed: () => void) => () => void;

/** A deadline on the real clock. It does not keep the process alive. */
export const startDeadline: Deadline = (ms, passed) => {
  const timer = setTimeout(passed, ms).unref();
  return () => clearTimeout(timer);
};

/** Resolves after some milliseconds of the real clock. It does not keep the process alive. */
export function pause(ms: number): Promise<void> {
  return sleep(ms, undefined, { ref: false });
}

/**
 * Waits for work to end, successfully or not, but not longer than the limit in milliseconds. Never rejects.
 *
 * @returns whether the work has ended
 */
export async function withinLimit(work: Promise<unknown>, limitMs = Number.POSITIVE_INFINITY): Promise<boolean> {
  const ended = work.then(
    () => true,
    () => true,
  );
  if (!Number.isFinite(limitMs)) return ended;
  const { promise, resolve } = Promise.withResolvers<false>();
  const limit = setTimeout(() => resolve(false), limitMs);
  try {
    return await Promise.race([ended, promise]);
  } finally {
    clearTimeout(limit);
  }
}
