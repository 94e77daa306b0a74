import type { ReadRepositories } from './repositories.ts';

/** The operator commands for a database that is a file. */
export interface DatabaseFiles {
  /**
   * Backs up a database that may be in use. The result is one consistent copy (mode 0600), which is verified before it
   * gets its name, and durable afterwards. An interrupted backup leaves nothing under that name; a later backup to the
   * same directory removes its temporary file.
   *
   * @returns the manifest of the backup
   * @throws StorageError `BACKUP_EXISTS`, `DATABASE_INCOMPLETE`, or another code if the copy cannot be written or
   * verified
   */
  makeBackup(request: BackupRequest): Promise<Manifest>;
  /**
   * Verifies a backup: every page, every reference, the audit chain of every environment, and the values in its
   * manifest.
   *
   * @throws StorageError `BACKUP_INVALID`; `MIGRATION_REFUSED` for a backup of a newer version
   */
  verifyBackup(path: string): Promise<Manifest>;
  /** Opens a backup for reading its rows. */
  readBackup(path: string): { read: ReadRepositories; close(): void };
  /**
   * Locks the path of a database, so that no process can open it until it is released.
   *
   * @param path the database file, which may not exist
   * @throws StorageError `DATABASE_IN_USE` while a process has the database open
   */
  lockTarget(path: string): Target;
  /** Returns what a database contains that a backup does not, for the operator: `12 accounts`. */
  missingFromBackup(database: Facts, backup: Facts): string[];
  /**
   * Returns the data that was stored durably and is missing from a database, for the operator: `98 accounts`. Returns
   * an empty list if nothing is missing.
   */
  missingData(path: string): string[];
  /** Allows the database to be opened although data is missing. */
  acceptLoss(path: string): void;
}

export interface BackupRequest {
  /** The database file. */
  source: string;
  /** The path of the backup, which must not exist. */
  target: string;
  now: Date;
  /** The version of the program. */
  program: string;
  /** Called with the current phase, and how many bytes of the copy are written. */
  progress?: (phase: 'copying' | 'verifying', written: number, total: number) => void;
}

/** The description of a backup. It is stored in a table of the backup, so that a backup is a single file. */
export interface Manifest {
  format: 1;
  /** RFC 3339. */
  madeAt: string;
  /** The version of the program that made it. */
  program: string;
  /** The newest migration of the database. */
  schema: string;
  /** The key-encryption keys that a restore needs. */
  keyIds: string[];
  /** The number of rows by table. */
  counts: Record<string, number>;
  /** The numbers of audit records by environment, as verified. */
  audit: Record<string, number>;
}

/** The part of a manifest that is read from the database itself. */
export type Facts = Pick<Manifest, 'schema' | 'keyIds' | 'counts'>;

/** The database that a restore replaces. */
export interface Target {
  /** The content of the database; null if there is none or it cannot be read. */
  facts: Facts | null;
  exists: boolean;
  /**
   * Replaces the database by a verified backup. The previous database is kept in the same directory under another name.
   *
   * @returns the name of the previous database, or null
   */
  replaceBy(backup: string, now: Date): string | null;
  /** Allows other processes to open the database again. */
  release(): void;
}
