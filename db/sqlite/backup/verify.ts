import { statSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import Database from 'better-sqlite3';
import type { Facts, Manifest } from '../../database-files.ts';
import { StorageError } from '../../errors.ts';
import { assertMigrations } from '../migrate.ts';
import { assertIntact, type Client } from '../open.ts';
import { createSqliteRepositories } from '../repositories.ts';
import { readFacts, readManifest } from './manifest.ts';

/** Verifies a backup: every page, every reference, the audit chains, and the values in its manifest. */
export async function verifyBackup(path: string): Promise<Manifest> {
  const client = openBackup(path);
  try {
    const manifest = readManifest(client);
    if (manifest === undefined) throw invalid(path, 'it was not made by `valetkey backup`');
    if (manifest.format !== 1) throw invalid(path, `its format ${manifest.format} is unknown to this program`);
    const found = { ...(await checkContent(client)), ...readFacts(client) };
    const { schema, keyIds, counts, audit } = manifest;
    if (!isDeepStrictEqual(found, { schema, keyIds, counts, audit })) {
      throw invalid(path, 'its content does not match its manifest, so it was changed or damaged');
    }
    return manifest;
  } catch (error) {
    throw isDamage(error) ? invalid(path, `it is damaged (${error.message})`) : error;
  } finally {
    client.close();
  }
}

function isDamage(error: unknown): error is Error {
  if (error instanceof StorageError) return error.code === 'DATABASE_DAMAGED';
  return error instanceof Database.SqliteError && /^SQLITE_(CORRUPT|NOTADB)/.test(error.code);
}

/**
 * Checks every page of a database and the consistency of its rows.
 *
 * @returns the lengths of the audit chains
 */
export async function checkContent(client: Client): Promise<Pick<Manifest, 'audit'>> {
  assertIntact(client);
  assertMigrations(client);
  const [dangling] = client.pragma('foreign_key_check') as { table: string }[];
  if (dangling) throw invalid(client.name, `a row of ${dangling.table} refers to a row that is missing`);
  const { environments, audit } = createSqliteRepositories(client).repositories;
  const lengths: Manifest['audit'] = {};
  for (const { id } of await environments.list()) {
    const verdict = await audit.verifyChain(id);
    if (!verdict.intact) throw invalid(client.name, `the audit chain of ${id} is broken at seq ${verdict.brokenAt}`);
    lengths[id] = verdict.rows;
  }
  return { audit: lengths };
}

/** Opens a backup for reading, without changing its files. */
export function openBackup(path: string): Client {
  // Opening a pipe would wait for another process without end.
  if (statSync(path, { throwIfNoEntry: false })?.isFile() === false) throw invalid(path, 'it is not a regular file');
  try {
    return new Database(path, { readonly: true, fileMustExist: true, timeout: 0 });
  } catch (cause) {
    throw new StorageError('BACKUP_INVALID', `the backup ${path} cannot be opened: ${(cause as Error).message}`, {
      cause,
    });
  }
}

/** Returns what a database contains that a backup does not, for the operator: `12 accounts`. */
export function missingFromBackup(database: Facts, backup: Facts): string[] {
  return ['accounts', 'executions', 'audit_log'].flatMap((table) => {
    const more = (database.counts[table] ?? 0) - (backup.counts[table] ?? 0);
    return more > 0 ? [`${more} ${table.replace('audit_log', 'audit records')}`] : [];
  });
}

function invalid(path: string, reason: string): StorageError {
  return new StorageError('BACKUP_INVALID', `the backup ${path} cannot be used: ${reason}`);
}
