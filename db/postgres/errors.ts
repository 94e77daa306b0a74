import { RelationError, RetryableError, StorageError, UniqueError } from '../errors.ts';

/** An error of the server. Its other fields can contain values of rows, so they are never logged or passed on. */
interface ServerError extends Error {
  /** SQLSTATE. */
  code: string;
  constraint?: string;
  column?: string;
  table?: string;
}

/**
 * A serialization failure, a deadlock, another connection that writes to the same chain of the audit log, or a
 * connection from before a crash of the server. Running the unit again can succeed.
 */
export class ConflictError extends RetryableError {}

const CONNECTION_LOST = 'CONNECTION_LOST';
export const LANE_TAKEN = 'AUDIT_LANE_TAKEN';
export const SERVER_CRASHED = 'SERVER_CRASHED';

export function laneTakenError(cause: unknown): ConflictError {
  return new ConflictError(LANE_TAKEN, 'another connection writes to the same chain of the audit log', { cause });
}

const SQLSTATE = /^[0-9A-Z]{5}$/;
/** Lock not available, query cancelled (a timeout), a cached plan whose tables have changed. */
const RETRYABLE = new Set(['55P03', '57014', '0A000']);
/**
 * Connection exceptions, shutdowns, insufficient resources, a primary that became a standby, I/O errors, internal
 * errors, damaged data.
 */
const OF_STORAGE = /^(08|28|3D|53|57P|58|XX)|^(25006|25P03|42501)$/;

/** Converts an error of the driver to one of the storage interface; other errors are returned unchanged. */
export function translateError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof StorageError) return error;
  if (!isServerError(error)) return isOfConnection(error) ? connectionLostError(error) : error;
  const { code, constraint = '', column, table } = error;
  const cause = withoutValues(error);
  switch (code) {
    case '40001':
    case '40P01':
      return new ConflictError(code, 'another transaction caused a conflict', { cause });
    case '23505':
      return new UniqueError(constraint, { cause });
    case '23503':
      return new RelationError('a row that is referred to is missing, or is still in use', { cause });
    case 'VK001':
      return new StorageError(
        'INSTANCE_ENDED',
        'this instance is no longer registered; other instances have taken over its work',
        { cause },
      );
    case 'VK002':
      return new ConflictError(SERVER_CRASHED, 'the database server has crashed since the connection was opened', {
        cause,
      });
    case '23502':
      // `seq` is computed from the row of the environment, so it is null if the environment does not exist.
      // The statement that moves the end of a chain writes null in place of the hash if the end is not the expected one.
      if (table === 'audit_heads' && column === 'hash') return laneTakenError(cause);
      if (column === 'seq') return new RelationError('the environment does not exist', { cause });
      break;
  }
  if (RETRYABLE.has(code))
    return new RetryableError(code, 'the database did not complete the statement in time', { cause });
  // The text of the server names the object, for example `permission denied for schema public`.
  if (code === '42501') return new StorageError(code, `the role may not use the database: ${cause.message}`, { cause });
  if (OF_STORAGE.test(code)) return new StorageError(code, 'the database failed', { cause });
  // A violated CHECK, a wrong type or an error of a trigger is a bug of the program, not a failure of the storage.
  return cause;
}

/**
 * The error for a connection that ended or could not be opened. It is unknown whether the server executed the
 * statement.
 */
export function connectionLostError(cause: unknown): StorageError {
  return new StorageError(CONNECTION_LOST, 'the connection to the database was lost', { cause });
}

/**
 * Whether the connection was lost or is being closed, so that it is unknown whether the server executed the statement.
 */
export function isConnectionLost(error: unknown): error is StorageError {
  return error instanceof StorageError && (error.code === CONNECTION_LOST || /^(08|57P)/.test(error.code));
}

function isServerError(error: Error): error is ServerError {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' && SQLSTATE.test(code);
}

/**
 * Socket errors have a code such as ECONNREFUSED. The driver reports a lost connection and a timeout only by their
 * messages.
 */
function isOfConnection(error: Error): boolean {
  const { code } = error as { code?: unknown };
  if (typeof code === 'string' && /^(E[A-Z_]+|ERR_(SSL|TLS|SOCKET).*)$/.test(code)) return true;
  return /^(Connection terminated|Client (was closed|has encountered)|Query read timeout|timeout expired)/.test(
    error.message,
  );
}

function withoutValues({ code, message, constraint }: ServerError): Error {
  const copy = new Error(`${message} (${code}${constraint ? `, ${constraint}` : ''})`);
  copy.name = 'DatabaseError';
  return copy;
}
