import type { Ask } from './statements.ts';

/** Makes earlier commits durable that did not wait for the disk. */
export type Flush = () => Promise<void>;

/**
 * Returns a function that makes all earlier commits durable. A durable commit makes everything before it durable, so
 * concurrent callers share one. It writes an empty message to the server's log, which is the cheapest durable commit.
 */
export function createFlush(ask: Ask): Flush {
  let current: Promise<void> = Promise.resolve();
  let next: Promise<void> | undefined;
  const flush = async () => {
    next = undefined;
    await ask({ text: "select pg_logical_emit_message(true, 'valetkey', '')" });
  };
  return () => {
    // A flush that is already running may have started before the caller's commit.
    if (next === undefined) {
      next = current.then(flush, flush);
      current = next;
    }
    return next;
  };
}
