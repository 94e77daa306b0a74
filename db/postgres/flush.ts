import type { RunQuery } from './statements.ts';

/** Makes all earlier commits durable, including those that did not wait for the disk. */
export type Flush = () => Promise<void>;

/**
 * Returns a function that makes all earlier commits durable. A durable commit makes everything before it durable, so
 * concurrent callers share one. This commit writes only an empty message to the write-ahead log, which is cheapest.
 */
export function createFlush(query: RunQuery): Flush {
  let current: Promise<void> = Promise.resolve();
  let next: Promise<void> | undefined;
  const flush = async () => {
    next = undefined;
    await query({ text: "select pg_logical_emit_message(true, 'valetkey', '')" });
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
