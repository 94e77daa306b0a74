import type { ReadRepositories } from './repositories.ts';

/** What operators do with a database that is a file. Paths are those of files. */
export interface DatabaseFiles {
  /**
   * Backs up a database that may be in use: one consistent copy (mode 0600) that is verified before it gets its name, and durable
   * afterwards. Interrupted, it leaves nothing under that name; what it leaves is removed by a later backup to the same directory.
   *
   * @returns the manifest of the backup
   * @throws StorageError `BACKUP_EXISTS`, `DATABASE_INCOMPLETE`, or because the copy cannot be written or verified
   */
  makeBackup(request: BackupRequest): Promise<Manifest>;
  /**
   * Checks a backup: every page, every reference, the audit chain of every environment, and what its manifest says.
   *
   * @throws StorageError `BACKUP_INVALID`; `MIGRATION_REFUSED` for a backup of a newer program
   */
  verifyBackup(path: string): Promise<Manifest>;
  /** The rows of a backup. */
  readBackup(path: string): { read: ReadRepositories; close(): void };
  /**
   * Takes hold of the place of a database, so that no process can open it until it is released.
   *
   * @param path the database file; there may be none
   * @throws StorageError `DATABASE_IN_USE` while any process has the database open
   */
  takeTarget(path: string): Target;
  /** What a database has more of than a backup, as words for the operator: `12 accounts`. */
  surplusOf(database: Facts, backup: Facts): string[];
  /** What was stored durably and is missing from a database, as words for the operator, such as `98 accounts`; empty when nothing is. */
  missingData(path: string): string[];
  /** Lets the database be opened although data are missing. */
  acceptLoss(path: string): void;
}

export interface BackupRequest {
  /** The database file. */
  source: string;
  /** Where the backup is to be; nothing may be there. */
  target: string;
  now: Date;
  /** The version of the program. */
  program: string;
  /** Told what is being done, and how much of the copy is written, in bytes. */
  progress?: (phase: 'copying' | 'verifying', written: number, total: number) => void;
}

/** The description of a backup. It is kept in a table of the backup, so that one file is all there is to keep. */
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
  /** Rows by table. */
  counts: Record<string, number>;
  /** Audit records by environment: the lengths of the chains that were verified. */
  audit: Record<string, number>;
}

/** The part of a manifest that is read from the database. */
export type Facts = Pick<Manifest, 'schema' | 'keyIds' | 'counts'>;

/** The database that a restore is to replace. */
export interface Target {
  /** What it holds; null where there is none, or where it cannot be read. */
  facts: Facts | null;
  exists: boolean;
  /**
   * Puts a verified backup in its place. The earlier database stays beside it under another name.
   *
   * @returns the name under which the earlier database was kept, or null
   */
  replaceBy(backup: string, now: Date): string | null;
  /** Lets other processes open the database again. */
  release(): void;
}
