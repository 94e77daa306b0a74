import { startTimer } from '../../core/scheduling/timers.ts';
import type { Logger } from '../../http/monitoring/log.ts';

const PARENT_CHECK_MS = 1_000;

/**
 * Returns a function that calls `stop` and then ends the process with 0. It takes the reason, which is logged. Only the
 * first call has an effect.
 */
export function endOnce(log: Logger, stop: () => Promise<void>): (reason: object) => void {
  let isStopping = false;
  return (reason) => {
    if (isStopping) return;
    isStopping = true;
    log.info(reason, 'stopping');
    // An error while stopping is handled like any unhandled error and ends the process with 1.
    void stop().then(() => process.exit(0));
  };
}

/**
 * Calls `end` on SIGTERM, SIGINT and SIGHUP. SIGHUP is sent when a terminal is closed. Without a handler, Node would
 * end the process immediately, even if it was started with SIGHUP ignored (nohup).
 */
export function endOnSignal(end: (reason: object) => void): void {
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => end({ signal }));
}

/**
 * Calls `end` when the parent of this process has ended, because not every parent forwards its signal: npm forwards
 * only SIGTERM and SIGINT, and no process can forward SIGKILL. The system then gives this process another parent.
 */
export function endWithParent(parent: number, log: Logger, end: (reason: object) => void): void {
  const check = () => {
    if (process.ppid !== parent) end({ parent });
  };
  startTimer(check, {
    everyMs: PARENT_CHECK_MS,
    failed: (err) => log.error({ err }, 'it could not be checked whether the parent process still runs'),
  });
}
