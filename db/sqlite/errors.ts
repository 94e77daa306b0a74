import Database from 'better-sqlite3';
import { RelationError, RetryableError, StorageError, UniqueError } from '../errors.ts';

/** Unique indexes by their columns, because SQLite's error contains the columns and not the index. */
const CONSTRAINTS: Record<string, string> = {
  'accounts.id': 'accounts_id',
  'accounts.connection_id, accounts.identifier, accounts.organization_id, accounts.user_id': 'accounts_identity',
  'connections.environment_id, connections.key_id': 'connections_key_id',
  'custom_providers.environment_id, custom_providers.identifier': 'custom_providers_identifier',
  'environment_tools.environment_id, environment_tools.connector, environment_tools.source, environment_tools.source_id':
    'environment_tools_source',
  'mcp_configs.environment_id, mcp_configs.name': 'mcp_configs_name',
  'tool_overlays.environment_id, tool_overlays.new_name': 'tool_overlays_new_name',
  'environment_hosts.host': 'environment_hosts_host',
  'executions.id': 'executions_id',
};

const BUSY = /^SQLITE_(BUSY|LOCKED|PROTOCOL)/;

/** Converts a driver error to an error of `db/errors.ts`; any other value is returned unchanged. */
export function translateError(error: unknown): unknown {
  if (!(error instanceof Database.SqliteError)) return error;
  switch (error.code) {
    case 'SQLITE_CONSTRAINT_UNIQUE':
    case 'SQLITE_CONSTRAINT_PRIMARYKEY':
    case 'SQLITE_CONSTRAINT_ROWID': {
      const columns = error.message.replace(/^UNIQUE constraint failed: /, '');
      return new UniqueError(CONSTRAINTS[columns] ?? columns, { cause: error });
    }
    case 'SQLITE_CONSTRAINT_FOREIGNKEY':
      return new RelationError('a row that is referred to is missing, or is still in use', { cause: error });
    default: {
      // A violated CHECK, type or trigger is a bug, not a state of the storage.
      if (error.code.startsWith('SQLITE_CONSTRAINT')) return error;
      const Translation = BUSY.test(error.code) ? RetryableError : StorageError;
      return new Translation(error.code, 'a database operation failed', { cause: error });
    }
  }
}

/**
 * Whether a driver error, or a converted one, means that a lock was held, and so nothing was changed. The lock is held
 * by another process, or (LOCKED, in a checkpoint) by a transaction of this process that takes several event-loop
 * turns.
 */
export function isBusy(error: unknown): boolean {
  return error instanceof RetryableError || (error instanceof Database.SqliteError && BUSY.test(error.code));
}

/** Whether reads fail because of the disk or the file, which affects every request, and not because of a lock. */
export function isDiskFault({ code }: StorageError): boolean {
  return /^SQLITE_(IOERR|CANTOPEN|CORRUPT|NOTADB)/.test(code);
}

/**
 * Returns the error of a failed sync. It must not be retried: the kernel may have dropped the pages, and another sync
 * would report lost data as durable.
 */
export function syncFailed(cause: unknown): StorageError {
  const message = 'a commit could not be made durable: check the disk, and restart the server';
  return new StorageError('SQLITE_IOERR_FSYNC', message, { cause });
}

/** Whether an error means that a file could not be synced. The kernel may then show pages that are not on the disk. */
export function syncHasFailed(error: StorageError): boolean {
  return /^SQLITE_IOERR_(DIR_)?FSYNC/.test(error.code);
}

/**
 * Whether the writer can no longer be trusted. After a failed fsync the kernel may have dropped pages, so a retry would
 * acknowledge lost data; a corrupt file would be damaged further.
 */
export function isFatal(error: unknown): boolean {
  if (!(error instanceof StorageError)) return false;
  return /^SQLITE_(IOERR_FSYNC|IOERR_DIR_FSYNC|CORRUPT|NOTADB)/.test(error.code);
}
