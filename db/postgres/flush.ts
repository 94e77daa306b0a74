import type { Ask } from './statements.ts';

/** Makes durable what was committed without waiting for it. */
export type Flush = () => Promise<void>;

/**
 * A durable commit makes everything durable that was committed before it, so all that was committed in the meantime shares one. It
 * writes an empty message to the log of the server, which is the least that has a durable commit.
 */
export function createFlush(ask: Ask): Flush {
  let current: Promise<void> = Promise.resolve();
  let next: Promise<void> | undefined;
  const flush = async () => {
    next = undefined;
    await ask({ text: "select pg_logical_emit_message(true, 'valetkey', '')" });
  };
  return () => {
    // The one that is under way may have begun before the commit.
    if (next === undefined) {
      next = current.then(flush, flush);
      current = next;
    }
    return next;
  };
}
