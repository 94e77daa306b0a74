export interface Periodic {
  /** Has the work done shortly, once for all who ask meanwhile. */
  soon(): void;
  /** No more work is begun; what is under way is the caller's to wait for. */
  stop(): void;
}

/** When the work is done, in milliseconds; neither time keeps a process alive. */
export interface Period {
  everyMs: number;
  soonMs: number;
}

/**
 * Does some work again and again, on the real clock.
 *
 * @param failed is told what the work rejects with; the next time comes all the same
 */
export function periodically(work: () => Promise<unknown>, period: Period, failed: (error: unknown) => void): Periodic {
  const quietly = () => void work().catch(failed);
  const timer = setInterval(quietly, period.everyMs).unref();
  let next: NodeJS.Timeout | null = null;
  return {
    soon() {
      next ??= setTimeout(() => {
        next = null;
        quietly();
      }, period.soonMs).unref();
    },
    stop() {
      clearInterval(timer);
      if (next) clearTimeout(next);
    },
  };
}
