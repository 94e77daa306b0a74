import type { Logger } from '../http/monitoring/log.ts';

/** How long running requests may take to finish after an unhandled error, in milliseconds. */
const STOP_MS = 5_000;

/**
 * Ends the process after an unhandled error (threat S6): logs it, stops the server in limited time, and exits with 1,
 * so that a supervisor restarts it. After such an error the state of the process may be invalid, so it must not
 * continue.
 *
 * @param stop lets running requests finish and closes what is open
 */
export function endOnUnhandledFault(log: Logger, stop: () => Promise<void>): void {
  let isEnding = false;
  const exit = () => process.exit(1);
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(event, (error: unknown) => {
      log.fatal({ err: error }, event);
      if (isEnding) return;
      isEnding = true;
      setTimeout(exit, STOP_MS);
      stop().then(exit, exit);
    });
  }
}
