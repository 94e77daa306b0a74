import { nameOf, type RunQuery } from './statements.ts';

/**
 * Makes all earlier commits durable, including those that did not wait for the disk. Returns the epoch of the server
 * (the time between two of its crashes): a commit of an earlier epoch is durable only if it survived the crash that
 * ended its epoch.
 */
export type Flush = () => Promise<unknown>;

const FLUSH = "select pg_logical_emit_message(true, 'valetkey', ''), (select life from server_lives)";

/**
 * Returns a function that makes all earlier commits durable. A durable commit makes everything before it durable, so
 * concurrent callers share one. This commit writes only an empty message to the write-ahead log, which is cheapest.
 */
export function createFlush(query: RunQuery, prepare: boolean): Flush {
  const statement = { text: FLUSH, name: prepare ? nameOf(FLUSH) : undefined };
  let current: Promise<unknown> = Promise.resolve();
  let next: Promise<unknown> | undefined;
  const flush = async () => {
    next = undefined;
    const { rows } = await query(statement);
    return rows[0]?.[1];
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
