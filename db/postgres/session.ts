import pg from 'pg';
import { POSTGRES } from '../../core/budgets.ts';
import { StorageError } from '../errors.ts';
import { connectionLostError, translateError } from './errors.ts';
import { createHosts } from './hosts.ts';
import { parserOf } from './values.ts';

/**
 * A connection to the server. Statements of the same event-loop turn are sent together; the replies arrive in order.
 */
export interface Session {
  /** False after the connection was lost. */
  isOpen(): boolean;
  /** How many statements are waiting for a reply. */
  readonly waiting: number;
  /**
   * Whether the connection leads directly to PostgreSQL and not to a connection pool. A pool tells its clients other
   * process numbers than those of the server.
   */
  isDirect(): Promise<boolean>;
  /** Calls a function for each notification of a channel that this connection listens to. */
  onNotification(heard: () => void): void;
  /** @throws StorageError and the other errors of the storage interface */
  query(statement: Query): Promise<QueryResult>;
  close(): Promise<void>;
}

export interface Query {
  text: string;
  /**
   * The name under which the server keeps the prepared statement. Without a name, the statement is prepared each time.
   */
  name?: string | undefined;
  /** Without values and without a name, the text may contain several statements. */
  values?: unknown[] | undefined;
}

export interface QueryResult {
  /** The command, such as `COMMIT`. */
  command: string;
  rows: unknown[][];
  changes: number;
}

export interface SessionOptions {
  /** The maximum time of a statement in milliseconds; null for no time limits, for example for migrations. */
  statementMs?: number | null;
  /** Whether a standby is accepted, which can only be read. */
  mayBeStandby?: boolean;
}

/**
 * Connects to the first host of an address that accepts writes.
 *
 * @param location `postgres://…`, see `hostsOf`
 * @throws StorageError if no host can be reached, or all are standbys
 */
export function openSession(location: string, terms: SessionOptions = {}): Promise<Session> {
  return createHosts(location, (address) => openHost(address, terms))();
}

/**
 * Connects to one host.
 *
 * @param location `postgres://…` with one host
 * @throws StorageError if the server cannot be reached, or is a standby and `mayBeStandby` is not set
 */
export async function openHost(
  location: string,
  { statementMs = POSTGRES.statementMs, mayBeStandby = false }: SessionOptions = {},
): Promise<Session> {
  const client = new pg.Client({
    connectionString: location,
    fallback_application_name: 'valetkey',
    connectionTimeoutMillis: POSTGRES.connectMs,
    keepAlive: true,
    ...(statementMs !== null && {
      statement_timeout: statementMs,
      lock_timeout: POSTGRES.lockMs,
      idle_in_transaction_session_timeout: POSTGRES.idleMs,
      // Applies if the server no longer responds. It includes the time that a statement waits for earlier ones of the
      // connection. It is longer than the server's own timeout, so that the server usually ends a slow statement first.
      query_timeout: statementMs + POSTGRES.connectMs,
    }),
    types: { getTypeParser: parserOf },
    pipeline: true,
  } as pg.ClientConfig);
  let open = true;
  let waiting = 0;
  client.on('error', () => {
    open = false;
  });
  client.on('end', () => {
    open = false;
  });
  const session: Session = {
    isOpen: () => open,
    get waiting() {
      return waiting;
    },
    query({ text, name, values }) {
      waiting++;
      return new Promise((resolve, reject) => {
        client.query({ text, name, values, rowMode: 'array' } as pg.QueryConfig, (error: Error | undefined, result) => {
          waiting--;
          if (error) reject(open ? translateError(error) : connectionLostError(error));
          else resolve(lastResult(result as unknown as Result | Result[]));
        });
      });
    },
    async isDirect() {
      const { rows } = await session.query({ text: 'select pg_backend_pid()' });
      return rows[0]?.[0] === (client as unknown as { processID: number }).processID;
    },
    onNotification: (heard) => void client.on('notification', heard),
    async close() {
      open = false;
      await client.end();
    },
  };
  try {
    await client.connect();
    const { rows } = await session.query({ text: 'select pg_is_in_recovery()' });
    if (rows[0]?.[0] !== false && !mayBeStandby)
      throw new StorageError('STANDBY', 'the database server is a standby, which accepts no writes: use the primary');
    return session;
  } catch (error) {
    await session.close().catch(() => {});
    throw error instanceof StorageError ? error : unreachable(error);
  }
}

interface Result {
  command: string | null;
  rows: unknown[][];
  rowCount: number | null;
}

/** Returns the result of the last of several statements. */
function lastResult(results: Result | Result[]): QueryResult {
  const { command, rows, rowCount } = Array.isArray(results) ? (results.at(-1) as Result) : results;
  return { command: command ?? '', rows, changes: rowCount ?? 0 };
}

/** The message is written to the log, so it does not contain the address, which may include a password. */
function unreachable(cause: unknown): StorageError {
  const translated = translateError(cause);
  const reason = cause instanceof Error ? cause.message : String(cause);
  const code = translated instanceof StorageError ? translated.code : 'CONNECTION_FAILED';
  return new StorageError(code, `the database server cannot be used: ${reason}`, { cause: translated });
}
