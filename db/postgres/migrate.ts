import { fileURLToPath } from 'node:url';
import { StorageError } from '../errors.ts';
import { type Applied, assertHistory, type Migration, numberOf, readMigrations } from '../migrations.ts';
import { openSession, type Session } from './session.ts';
import type { Ask } from './statements.ts';

const DIRECTORY = fileURLToPath(new URL('./migrations', import.meta.url));

export function loadMigrations(directory: string = DIRECTORY): Migration[] {
  return readMigrations(directory);
}

let newest: number | undefined;

/** Returns the number of the newest migration that this program knows. */
export function newestMigration(): number {
  newest ??= numberOf(loadMigrations().at(-1) as Migration);
  return newest;
}

/**
 * Applies all missing migrations to a database. Each file is applied in its own transaction, which first checks which
 * file is missing, so two concurrent processes apply each file only once.
 *
 * @param now milliseconds UTC
 * @returns the names of the migrations that were applied
 * @throws StorageError `MIGRATION_REFUSED` if an applied file was edited or is missing, or if a new file sorts before
 * an applied one; `MIGRATION_FAILED` if a file fails, and then nothing of it was applied
 */
export async function migrate(location: string, now: () => number, files = loadMigrations()): Promise<string[]> {
  const session = await openSession(location, { statementMs: null });
  try {
    const done: string[] = [];
    for (;;) {
      const next = await inTransaction(session, () => applyNext(session, now, files));
      if (next === undefined) return done;
      done.push(next);
    }
  } finally {
    await session.close();
  }
}

/**
 * Checks that a database has all migrations of this program, without changing anything.
 *
 * @throws StorageError `SCHEMA_MISSING`, `SCHEMA_OLD` if `valetkey db migrate` must be run first; `MIGRATION_REFUSED`
 */
export async function requireSchema(ask: Ask, files = loadMigrations()): Promise<void> {
  const applied = await appliedTo(ask);
  assertHistory(applied, files);
  const missing = files.slice(applied.length).map(({ name }) => name);
  if (missing.length === 0) return;
  const [code, what] = applied.length === 0 ? ['SCHEMA_MISSING', 'has no tables'] : ['SCHEMA_OLD', `lacks ${missing}`];
  throw new StorageError(code, `the database ${what}: run \`valetkey db migrate\`, then start the server`);
}

/** @returns the name of the file that was applied; undefined if none is missing */
async function applyNext({ ask }: Session, now: () => number, files: Migration[]): Promise<string | undefined> {
  await ask({ text: "select pg_advisory_xact_lock(hashtext('valetkey migrations'))" });
  await ask({
    text: 'create table if not exists migrations (name text collate "C" primary key not null, sha256 text collate "C" not null, applied_at bigint not null)',
  });
  const applied = await appliedTo(ask);
  assertHistory(applied, files);
  const file = files[applied.length];
  if (file === undefined) return undefined;
  try {
    await ask({ text: file.sql });
  } catch (cause) {
    throw new StorageError('MIGRATION_FAILED', `the migration ${file.name} failed: ${(cause as Error).message}`, {
      cause,
    });
  }
  const values = [file.name, file.sha256, now()];
  await ask({ text: 'insert into migrations (name, sha256, applied_at) values ($1, $2, $3)', values });
  return file.name;
}

async function appliedTo(ask: Ask): Promise<Applied[]> {
  const { rows: found } = await ask({ text: "select to_regclass('migrations') is not null" });
  if (found[0]?.[0] !== true) return [];
  // Databases before the migration 0004 do not have the column readable_from.
  const readable = "(to_jsonb(migrations) ->> 'readable_from')::bigint";
  const { rows } = await ask({ text: `select name, sha256, ${readable} from migrations order by name` });
  return rows.map(([name, sha256, readableFrom]) => ({ name, sha256, readableFrom }) as Applied);
}

async function inTransaction<T>({ ask }: Session, work: () => Promise<T>): Promise<T> {
  await ask({ text: 'begin' });
  try {
    const result = await work();
    await ask({ text: 'commit' });
    return result;
  } catch (error) {
    await ask({ text: 'rollback' }).catch(() => {});
    throw error;
  }
}
