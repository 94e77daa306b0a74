import type { Client } from './open.ts';

/** A read transaction that lasts at most one turn of the event loop. */
export interface ReadTurn {
  begin(): void;
  end(): void;
  /**
   * Returns the result of `read`. Within a turn it is called once per key, because the same transaction would return
   * the same result.
   */
  once<T>(key: string, read: () => T): T;
}

/**
 * Lets the reads of a turn share a transaction: taking and releasing a read lock takes six system calls, which cost as much as finding a row. It ends before the turn does, and before a transaction of writes begins, so that a caller that waited for a write sees it.
 *
 * @param report is called if the transaction cannot be ended at the end of the turn; the next read begins another one
 */
export function createReadTurn(reader: Client, report: (error: unknown) => void): ReadTurn {
  const [begin, commit, rollback] = [reader.prepare('begin'), reader.prepare('commit'), reader.prepare('rollback')];
  // A new map for each turn, because clearing one would create a chain of tables that delays garbage collection.
  let answers = new Map<string, unknown>();
  let open = false;
  const end = () => {
    if (!open) return;
    open = false;
    answers = new Map();
    // SQLite may have rolled back on an I/O error.
    if (reader.inTransaction) commit.run();
  };
  const endOfTurn = () => {
    try {
      end();
    } catch (error) {
      report(error);
    }
  };
  return {
    begin() {
      if (open) return;
      // A transaction that could not be ended would show an old state forever.
      if (reader.inTransaction) rollback.run();
      begin.run();
      open = true;
      setImmediate(endOfTurn);
    },
    end,
    once<T>(key: string, read: () => T): T {
      if (!open) return read();
      if (!answers.has(key)) answers.set(key, read());
      return answers.get(key) as T;
    },
  };
}
