import Database from 'better-sqlite3';
import { RelationError, RetryableError, StorageError, UniqueError } from '../errors.ts';

/** SQLite names the columns of a violated unique index, not the index. */
const CONSTRAINTS: Record<string, string> = {
  'accounts.id': 'accounts_id',
  'accounts.connection_id, accounts.identifier, accounts.organization_id, accounts.user_id': 'accounts_identity',
  'connections.environment_id, connections.key_id': 'connections_key_id',
  'custom_providers.environment_id, custom_providers.identifier': 'custom_providers_identifier',
  'environment_tools.environment_id, environment_tools.connector, environment_tools.source, environment_tools.source_id':
    'environment_tools_source',
  'mcp_configs.environment_id, mcp_configs.name': 'mcp_configs_name',
  'environment_hosts.host': 'environment_hosts_host',
  'executions.id': 'executions_id',
};

const BUSY = /^SQLITE_(BUSY|LOCKED|PROTOCOL)/;

/** Turns an error of the driver into one of the port; everything else comes back as it is. */
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
      // A broken CHECK, type or trigger is a fault of the program, not a state of the storage.
      if (error.code.startsWith('SQLITE_CONSTRAINT')) return error;
      const Translation = BUSY.test(error.code) ? RetryableError : StorageError;
      return new Translation(error.code, 'the database could not do its work', { cause: error });
    }
  }
}

/**
 * Whether an error of the driver, or a translated one, says that a lock is in the way: that of another process, or of a transaction of
 * this one that lasts for several turns (LOCKED, for a checkpoint). Nothing has happened then.
 */
export function isBusy(error: unknown): boolean {
  return error instanceof RetryableError || (error instanceof Database.SqliteError && BUSY.test(error.code));
}

/** Whether reads fail because of the disk or the file, which concerns every request, and not because of a lock. */
export function isDiskFault({ code }: StorageError): boolean {
  return /^SQLITE_(IOERR|CANTOPEN|CORRUPT|NOTADB)/.test(code);
}

/** The kernel may have dropped the pages: trying again would report as durable what is lost. */
export function syncFailed(cause: unknown): StorageError {
  return new StorageError('SQLITE_IOERR_FSYNC', 'a commit could not be made durable', { cause });
}

/** Whether an error says that a file could not be synced: the kernel may show pages of it that are not on the disk. */
export function syncHasFailed(error: StorageError): boolean {
  return /^SQLITE_IOERR_(DIR_)?FSYNC/.test(error.code);
}

/**
 * Whether the writer must not be trusted any more. After a failed fsync the kernel may have dropped the pages, so trying again
 * would acknowledge what is lost; a corrupt file only gets worse.
 */
export function isFatal(error: unknown): boolean {
  if (!(error instanceof StorageError)) return false;
  return /^SQLITE_(IOERR_FSYNC|IOERR_DIR_FSYNC|CORRUPT|NOTADB)/.test(error.code);
}
