import { INSTANCE } from '../../core/budgets.ts';
import { StorageError } from '../errors.ts';
import { type Applied, assertHistory, type Migration } from '../migrations.ts';
import { loadMigrations } from './load-migrations.ts';
import type { RunQuery } from './statements.ts';

/** A running server that cannot work with the database after a migration. */
interface Hindering {
  version: string;
  schemaNumber: number;
}

/**
 * Checks that this program can work with the schema of a database, without changing anything. Migrations of the
 * contract phase may be missing, and newer migrations that this program can work with may have been applied.
 *
 * @throws StorageError `SCHEMA_MISSING`, `SCHEMA_OLD` if `valetkey db migrate` must be run first; `MIGRATION_REFUSED`;
 * `DATABASE_COPIED`
 */
export async function requireSchema(query: RunQuery, files = loadMigrations()): Promise<void> {
  const applied = await appliedTo(query);
  assertHistory(applied, files);
  const missing = files.slice(applied.length).filter(({ isContract }) => !isContract);
  if (missing.length === 0 && applied.length > 0) return;
  const [code, what] =
    applied.length === 0
      ? ['SCHEMA_MISSING', 'has no tables']
      : ['SCHEMA_OLD', `lacks ${missing.map(({ name }) => name).join(', ')}`];
  throw new StorageError(code, `the database ${what}: run \`valetkey db migrate\`, then start the server`);
}

/**
 * Checks that a database can store every text.
 *
 * @throws StorageError `STORE_REFUSED`
 */
export async function requireEncoding(query: RunQuery): Promise<void> {
  const { rows } = await query({ text: "select current_setting('server_encoding')" });
  if (rows[0]?.[0] === 'UTF8') return;
  throw new StorageError(
    'STORE_REFUSED',
    `the encoding of the database is ${rows[0]?.[0]}: create a database with the encoding UTF8`,
  );
}

export async function appliedTo(query: RunQuery): Promise<Applied[]> {
  if (!(await hasTable(query, 'migrations'))) return [];
  // Databases before the migration 0005 do not have the column readable_from.
  const readable = "(to_jsonb(migrations) ->> 'readable_from')::bigint";
  const { rows } = await query({ text: `select name, sha256, ${readable} from migrations order by name` });
  return rows.map(([name, sha256, readableFrom]) => ({ name, sha256, readableFrom }) as Applied);
}

/**
 * Checks that every running server can work with the database after a migration.
 *
 * @throws StorageError `SCHEMA_IN_USE`
 */
export async function requireNoOlderServer(query: RunQuery, file: Migration): Promise<void> {
  const oldest = await olderServer(query, file);
  if (oldest === undefined) return;
  throw new StorageError(
    'SCHEMA_IN_USE',
    `a server of version ${oldest.version} is running, which cannot work with the database after ${file.name}: ` +
      'replace all servers by this version, and then run the command again',
  );
}

async function olderServer(query: RunQuery, { readableFrom }: Migration): Promise<Hindering | undefined> {
  if (!(await hasTable(query, 'instances'))) return undefined;
  // Before the migration 0005, the column is missing and all programs know the migration 0003.
  const number = "coalesce((to_jsonb(instances) ->> 'schema_number')::bigint, 3)";
  const { rows } = await query({
    text: `select version, ${number} from instances
      where ${number} < $1 and beat_at > (extract(epoch from clock_timestamp()) * 1000)::bigint - $2::bigint limit 1`,
    values: [readableFrom, INSTANCE.silentMs],
  });
  const [row] = rows;
  return row && { version: String(row[0]), schemaNumber: Number(row[1]) };
}

async function hasTable(query: RunQuery, name: string): Promise<boolean> {
  const { rows } = await query({ text: 'select to_regclass($1) is not null', values: [name] });
  return rows[0]?.[0] === true;
}
