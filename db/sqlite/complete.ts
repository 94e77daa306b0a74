import { StorageError } from '../errors.ts';
import { measureFile, missingOf } from './claims.ts';
import { readClaims } from './mark-file.ts';

/**
 * Compares a database with what earlier runs marked as durable. It can tell that rows or a part of the log are missing: a damaged log, a
 * log that was removed, an older file in the place of the database. It cannot tell of the last moments before a crash
 * (`STORAGE.markEveryMs`), nor of values that were changed in place.
 *
 * @returns what is missing, as words for the operator, such as `98 accounts`; empty when nothing is
 * @throws SqliteError when the file cannot be read
 */
export function missingData(database: string): string[] {
  const claims = readClaims(database);
  if (claims.length === 0) return [];
  const found = measureFile(database);
  // Without a measure the log has just started again, which another process does only when nothing of it is missing.
  return found === undefined ? [] : missingOf(claims, found);
}

/** @throws StorageError `DATABASE_INCOMPLETE` that says what is missing; SqliteError */
export function assertComplete(database: string): void {
  const missing = missingData(database);
  if (missing.length === 0) return;
  throw new StorageError(
    'DATABASE_INCOMPLETE',
    `the database ${database} lacks data that was stored durably: ${missing.join(', ')}. Its log is damaged or missing, or an older file ` +
      'was put in its place. Nothing was changed. Restore a backup with `valetkey restore`, or run `valetkey accept-loss` to go on without the data',
  );
}
