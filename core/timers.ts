import { inBackground, type ReportFailure } from './background.ts';

export interface Timer {
  /** Runs the work in some milliseconds, once for all who ask meanwhile; after the run under way, if there is one then. */
  soon(ms: number): void;
  /** Starts no more runs and aborts the signal. Waits for the run under way, but not longer than the limit in milliseconds. */
  stop(limitMs?: number): Promise<void>;
}

export interface TimerOptions {
  /** Milliseconds between two runs. Left out where the work only runs when it is asked for. */
  everyMs?: number;
  /** Told what the work throws or rejects with; the work runs again at its next time. */
  failed: ReportFailure;
}

/**
 * Runs work again and again on the real clock: the one place where the server waits for a time to come. Runs never overlap, a failed
 * run ends nothing, and the timer does not keep the process alive.
 *
 * @param work gets a signal that is aborted when the timer stops
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

/** Waits for work to end, but not longer than the limit in milliseconds. @returns whether it has ended */
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
