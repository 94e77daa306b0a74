import { setTimeout as pause } from 'node:timers/promises';
import { POSTGRES } from '../../core/budgets.ts';
import type { MigrateOptions } from '../engine.ts';
import { StorageError } from '../errors.ts';
import { assertHistory, type Migration, numberOf } from '../migrations.ts';
import { loadMigrations } from './load-migrations.ts';
import { appliedTo, requireEncoding, requireNoOlderServer } from './schema.ts';
import { openSession, type Session } from './session.ts';

const LOCK = "select 1 where pg_try_advisory_xact_lock(hashtext('valetkey migrations'))";

/**
 * Applies the missing migrations to a database. An interrupted run can be repeated: each migration either runs in its
 * own transaction, or consists of statements that can be run again (`Migration.isTransaction`). Two concurrent
 * processes apply each migration once: one waits for the other. A migration that waits longer than
 * `POSTGRES.migrationLockMs` for a lock on a table is rolled back, so that servers can continue, and is tried again.
 *
 * @param now milliseconds UTC
 * @param options `until: 'expand'` ends before the first migration of the contract phase
 * @returns the names of the migrations that were applied
 * @throws StorageError `MIGRATION_REFUSED` if an applied file was edited or is missing, or if a new file sorts before
 * an applied one; `SCHEMA_IN_USE` if a running server cannot work with the database after the next migration;
 * `STORE_REFUSED` if the encoding is not UTF8; `MIGRATION_FAILED` if a file fails, and then nothing of a file that runs
 * in a transaction was applied; `MIGRATION_BLOCKED` if the last attempt of a file did not get its locks on tables in
 * time either
 */
export async function migrate(
  location: string,
  now: () => number,
  options: MigrateOptions = {},
  files = loadMigrations(),
): Promise<string[]> {
  const session = await openSession(location, { statementMs: null });
  try {
    await requireEncoding(session.query);
    const done: string[] = [];
    for (;;) {
      const next = await applyNext(session, location, { now, files, options });
      if (next === undefined) return done;
      done.push(next);
    }
  } finally {
    await session.close();
  }
}

interface Run {
  now: () => number;
  files: Migration[];
  options: MigrateOptions;
}

/** @returns the name of the file that was applied; undefined if none is to be applied */
async function applyNext(session: Session, location: string, run: Run): Promise<string | undefined> {
  let isWaiting = false;
  for (let attempt = 1; ; attempt++) {
    try {
      return await inTransaction(session, async () => {
        await lock(session);
        const file = await nextFile(session, run);
        if (file === undefined) return undefined;
        await requireNoOlderServer(session.query, file);
        if (file.isTransaction) await execute(file, session);
        else await executeOutside(file, location, session);
        await record(session, file, run.now());
        return file.name;
      });
    } catch (error) {
      if (error instanceof Locked) {
        if (!isWaiting) run.options.report?.('another process migrates the database: waiting for it');
        isWaiting = true;
        attempt--;
        await pause(POSTGRES.migrationTurnMs);
        continue;
      }
      if (!(error instanceof Blocked)) throw error;
      if (attempt === POSTGRES.migrationAttempts) {
        throw new StorageError('MIGRATION_BLOCKED', `${error.message}: run the command again later`, { cause: error });
      }
      run.options.report?.(`${error.message}: trying again`);
      await pause(POSTGRES.migrationPauseMs);
    }
  }
}

/** Another process has the lock of the migrations. */
class Locked extends Error {}

/**
 * Takes the lock of the migrations, without waiting for it. The caller tries again in another short transaction. If it
 * waited in an open transaction instead, there could be a deadlock: the process that has the lock may be creating an
 * index, which waits for the end of all open transactions.
 *
 * @throws Locked
 */
async function lock({ query }: Session): Promise<void> {
  const { rows } = await query({ text: LOCK });
  if (rows.length === 0) throw new Locked();
}

async function nextFile({ query }: Session, { files, options }: Run): Promise<Migration | undefined> {
  await query({
    text: 'create table if not exists migrations (name text collate "C" primary key not null, sha256 text collate "C" not null, applied_at bigint not null)',
  });
  const applied = await appliedTo(query);
  assertHistory(applied, files);
  const file = files[applied.length];
  return file?.isContract && options.until === 'expand' ? undefined : file;
}

/** A migration could not get a lock in time; nothing of it was applied. */
class Blocked extends Error {}

async function execute(file: Migration, { query }: Session): Promise<void> {
  try {
    await query({ text: `set local lock_timeout = ${POSTGRES.migrationLockMs}` });
    await query({ text: file.sql });
    await query({ text: 'set local lock_timeout = 0' });
  } catch (error) {
    throw failure(file, error);
  }
}

/**
 * Executes the statements of a file one by one, each in its own transaction, on a second connection; the first one
 * holds the lock of the migrations meanwhile.
 */
async function executeOutside(file: Migration, location: string, holder: Session): Promise<void> {
  // The last statement with parameters keeps its snapshot until the next statement. The creation of an index would wait
  // for the end of that snapshot, so this statement ends it.
  await holder.query({ text: 'select 1' });
  const { query, close } = await openSession(location, { statementMs: null });
  try {
    // One message with several statements would be one transaction.
    const statements = file.sql.split(/;\s*$/m).filter((part) => /^\s*[a-z]/im.test(part));
    for (const text of statements) await query({ text });
  } catch (error) {
    throw failure(file, error);
  } finally {
    await close();
  }
}

function failure({ name }: Migration, cause: unknown): Error {
  if (cause instanceof StorageError && cause.code === '55P03') {
    return new Blocked(`the migration ${name} waited too long for a lock that another transaction holds`, { cause });
  }
  return new StorageError('MIGRATION_FAILED', `the migration ${name} failed: ${(cause as Error).message}`, { cause });
}

async function record({ query }: Session, file: Migration, at: number): Promise<void> {
  const { name, sha256, readableFrom } = file;
  await query({
    text: 'insert into migrations (name, sha256, applied_at) values ($1, $2, $3)',
    values: [name, sha256, at],
  });
  if (readableFrom === numberOf(file)) return;
  await query({ text: 'update migrations set readable_from = $2 where name = $1', values: [name, readableFrom] });
}

async function inTransaction<T>({ query }: Session, work: () => Promise<T>): Promise<T> {
  await query({ text: 'begin isolation level read committed' });
  try {
    const result = await work();
    await query({ text: 'commit' });
    return result;
  } catch (error) {
    await query({ text: 'rollback' }).catch(() => {});
    throw error;
  }
}
