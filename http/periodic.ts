import { inBackground, type ReportFailure } from '../core/background.ts';

export interface Periodic {
  /** Runs the work after `soonMs`, once for all who ask meanwhile. */
  soon(): void;
  /** Starts no more work; the caller waits for what is under way. */
  stop(): void;
}

/** When the work runs, in milliseconds. Neither timer keeps the process alive. */
export interface Period {
  everyMs: number;
  /** Left out where nobody calls `soon`. */
  soonMs?: number;
}

/**
 * Runs some work again and again, on the real clock.
 *
 * @param failed is told what the work throws or rejects with; the work is run again at its next time
 */
export function periodically(work: () => unknown, { everyMs, soonMs = 0 }: Period, failed: ReportFailure): Periodic {
  let next: NodeJS.Timeout | null = null;
  const run = () => {
    next = null;
    inBackground(work, failed);
  };
  const timer = setInterval(() => inBackground(work, failed), everyMs).unref();
  return {
    soon() {
      next ??= setTimeout(run, soonMs).unref();
    },
    stop() {
      clearInterval(timer);
      if (next) clearTimeout(next);
    },
  };
}
