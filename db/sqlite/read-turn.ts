import type { Statement } from 'better-sqlite3';
import type { Client } from './open.ts';

/** A read transaction that lasts at most one turn of the event loop. */
export interface ReadTurn {
  begin(): void;
  /** The connection that reads use now. */
  client(): Client;
  end(): void;
  /**
   * Returns the result of `read`. Within a turn, `read` is called once per key, because the same transaction would
   * return the same result again.
   */
  once<T>(key: string, read: () => T): T;
}

/**
 * Lets the reads of a turn share a transaction, because taking and releasing a read lock takes six system calls, which
 * cost as much as finding a row. The shared transaction ends at the end of the turn, or earlier when a write
 * transaction begins, so that a caller that waited for a write sees its changes.
 *
 * @param choose returns the connection that a new transaction uses
 * @param report is called if the transaction cannot be ended at the end of the turn; the next read begins another one
 */
export function createReadTurn(choose: () => Client, report: (error: unknown) => void): ReadTurn {
  const controls = new Map<Client, Record<'begin' | 'commit' | 'rollback', Statement>>();
  let client: Client | undefined;
  // A new map for each turn, because clearing one would create a chain of tables that delays garbage collection.
  let answers = new Map<string, unknown>();
  let open = false;
  const end = () => {
    if (!open) return;
    open = false;
    answers = new Map();
    // SQLite may have rolled back on an I/O error.
    if (client?.inTransaction) control(client).commit.run();
  };
  const control = (of: Client) => {
    const known = controls.get(of);
    if (known) return known;
    const prepared = { begin: of.prepare('begin'), commit: of.prepare('commit'), rollback: of.prepare('rollback') };
    controls.set(of, prepared);
    return prepared;
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
      client = choose();
      const { begin, rollback } = control(client);
      // A transaction that could not be ended would show an old state forever.
      if (client.inTransaction) rollback.run();
      begin.run();
      open = true;
      setImmediate(endOfTurn);
    },
    client: () => (open && client ? client : choose()),
    end,
    once<T>(key: string, read: () => T): T {
      if (!open) return read();
      if (!answers.has(key)) answers.set(key, read());
      return answers.get(key) as T;
    },
  };
}
