import { StorageError } from '../errors.ts';
import { measureFile, missingOf } from './claims.ts';
import { readClaims } from './mark-file.ts';

/**
 * Compares a database with what earlier runs recorded as durable. It detects missing rows or a missing part of the log:
 * a damaged log, a deleted log, or an older file in place of the database. It does not detect the loss of the last
 * moments before a crash (`STORAGE.markEveryMs`), or of updated values.
 *
 * @returns what is missing, for the operator: `98 accounts`; empty if nothing is
 * @throws SqliteError if the file cannot be read
 */
export function missingData(database: string): string[] {
  const claims = readClaims(database);
  if (claims.length === 0) return [];
  const found = measureFile(database);
  // There is no measurement if another process has just restarted the log. That only happens if the log was complete.
  return found === undefined ? [] : missingOf(claims, found);
}

/** @throws StorageError `DATABASE_INCOMPLETE` naming what is missing; SqliteError */
export function assertComplete(database: string): void {
  const missing = missingData(database);
  if (missing.length === 0) return;
  throw new StorageError(
    'DATABASE_INCOMPLETE',
    `the database ${database} lacks data that was stored durably: ${missing.join(', ')}. Its log is damaged or missing, or an older file ` +
      'was put in its place. Nothing was changed. Restore a backup with `valetkey restore`, or run `valetkey accept-loss` to continue without the data',
  );
}
