/**
 * Returns a signal that is aborted by SIGINT and SIGTERM, so that a command that runs until it is interrupted can clean
 * up.
 */
export function untilInterrupted(): AbortSignal {
  const stop = new AbortController();
  process.once('SIGINT', () => stop.abort()).once('SIGTERM', () => stop.abort());
  return stop.signal;
}
