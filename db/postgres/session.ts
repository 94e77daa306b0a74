import pg from 'pg';
import { POSTGRES } from '../../core/budgets.ts';
import { StorageError } from '../errors.ts';
import { lost, translateError } from './errors.ts';
import { parserOf } from './values.ts';

/** A connection to the server. What is asked in one turn of the event loop is sent together; the replies come in order. */
export interface Session {
  /** False once the connection is lost. */
  isOpen(): boolean;
  /** How many questions are under way. */
  readonly waiting: number;
  /** @throws StorageError and the other errors of the port */
  ask(question: Question): Promise<Reply>;
  close(): Promise<void>;
}

export interface Question {
  text: string;
  /** Under which the server keeps the prepared statement. Without a name it is prepared each time. */
  name?: string | undefined;
  /** Without values, and without a name, the text may be several statements. */
  values?: unknown[] | undefined;
}

export interface Reply {
  /** Such as `COMMIT`. */
  command: string;
  rows: unknown[][];
  changes: number;
}

export interface SessionTerms {
  /** Longest time for a statement, in milliseconds; null for no limit, for migrations. */
  statementMs?: number | null;
}

/**
 * Connects to a server that accepts writes.
 *
 * @param location `postgres://…`
 * @throws StorageError when the server cannot be reached or is a standby
 */
export async function openSession(
  location: string,
  { statementMs = POSTGRES.statementMs }: SessionTerms = {},
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
      // The server ends a statement before. Only a server that cannot be reached does not.
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
    ask({ text, name, values }) {
      waiting++;
      return new Promise((resolve, reject) => {
        client.query({ text, name, values, rowMode: 'array' } as pg.QueryConfig, (error: Error | undefined, result) => {
          waiting--;
          if (error) reject(open ? translateError(error) : lost(error));
          else resolve(replyOf(result as unknown as Result | Result[]));
        });
      });
    },
    async close() {
      open = false;
      await client.end();
    },
  };
  try {
    await client.connect();
    const { rows } = await session.ask({ text: 'select pg_is_in_recovery()' });
    if (rows[0]?.[0] !== false)
      throw new StorageError('STANDBY', 'the database server is a standby and accepts no writes');
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

/** The reply to the last statement of a text. */
function replyOf(results: Result | Result[]): Reply {
  const { command, rows, rowCount } = Array.isArray(results) ? (results.at(-1) as Result) : results;
  return { command: command ?? '', rows, changes: rowCount ?? 0 };
}

/** In a deployment's log, so without the address, which may have a password. */
function unreachable(cause: unknown): StorageError {
  const translated = translateError(cause);
  const reason = cause instanceof Error ? cause.message : String(cause);
  const code = translated instanceof StorageError ? translated.code : 'CONNECTION_FAILED';
  return new StorageError(code, `the database server cannot be used: ${reason}`, { cause: translated });
}
