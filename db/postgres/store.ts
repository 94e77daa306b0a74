import { LIST, POSTGRES } from '../../core/budgets.ts';
import type { StoreOptions } from '../engine.ts';
import { RetryableError, StorageError } from '../errors.ts';
import { createRepositories } from '../repositories.ts';
import { createStorageHealth } from '../storage-health.ts';
import type { Committed, Store } from '../store.ts';
import { createAuditLanes } from './audit-lanes.ts';
import { createCommitOutcomes, type NumberedTransaction } from './commit-outcomes.ts';
import { SERVER_CRASHED } from './errors.ts';
import { createFlush } from './flush.ts';
import { createHosts } from './hosts.ts';
import { createListener } from './listener.ts';
import { separatesPreparedStatements } from './pooler.ts';
import { readOnlyOutside } from './read-only-outside.ts';
import { createReaders } from './readers.ts';
import { createReconnectingSession } from './reconnecting-session.ts';
import { openReplica } from './replica.ts';
import { requireEncoding, requireSchema } from './schema.ts';
import { withEpoch } from './server-epoch.ts';
import { openHost, type Query } from './session.ts';
import { readState } from './state.ts';
import type { RunQuery } from './statements.ts';
import { createPostgresStatements } from './statements.ts';
import { createUnits } from './units.ts';
import { createWriter, type Done, type Unit, type UnitOptions } from './writer.ts';

const CLOCK = 'select (extract(epoch from clock_timestamp()) * 1000)::bigint';

/** The result of every call of `shareReads`, which does nothing here: reads of one turn are sent together anyway. */
const SHARED = Promise.resolve();

/**
 * Connects to a server and returns the store for its database.
 *
 * @throws StorageError if the server cannot be used, or its schema is not that of this program
 */
export async function openPostgresStore({
  location,
  listLimits = { ...LIST, largestSlice: POSTGRES.largestSlice },
  watch = {},
  connections = {},
}: StoreOptions): Promise<Store> {
  const {
    readers: size = POSTGRES.readers,
    writers: places = POSTGRES.writers,
    prepare = true,
    replica: replicaUrl,
    listen: listenUrl,
  } = connections;
  const { report = warn } = watch;
  if (prepare && !(await separatesPreparedStatements(location))) throw statementsMixed();
  const open = createHosts(location, openHost);
  const readers = createReaders(open, size);
  await requireUsable(readers.query).catch(async (error) => {
    await readers.close();
    throw error;
  });
  const health = createStorageHealth(watch);
  const failed = (error: unknown) => {
    if (error instanceof StorageError && !(error instanceof RetryableError)) health.failed(error);
    return error;
  };
  const query = (statement: Query) =>
    readers.query(statement).catch((error) => {
      throw failed(error);
    });
  const { repositories } = createRepositories(createPostgresStatements(query, prepare), {
    pacing: { limits: listLimits, yieldToEventLoop: nextTurn },
    // The lane is not used: these repositories only read, and they read the last records of all chains.
    auditHeads: (statements) => createAuditLanes(statements, { number: 0, heads: new Map() }),
  });
  const replica =
    replicaUrl === undefined ? undefined : openReplica(replicaUrl, { size, prepare, limits: listLimits, report });
  const listener = createListener(listenUrl === undefined ? open : createHosts(listenUrl, openHost), (error) => {
    // A server that cannot be reached is reported by the callers that need it, unless only the listener uses its address.
    if (listenUrl !== undefined || !(error instanceof StorageError))
      report(error, 'changes of settings by other servers are noticed some seconds later');
  });
  const outcomes = createCommitOutcomes(readers);
  const writers = Array.from({ length: places }, (_, place) =>
    createWriter({
      connection: createReconnectingSession(readOnlyOutside(withEpoch(open))),
      place,
      prepare,
      outcomes,
      readers,
      report: (error) => report(error, 'an effect of a committed write failed'),
    }),
  );
  const units = createUnits(writers);
  const flush = createFlush(query, prepare);
  const flushing = new Set<Promise<void>>();
  let closing: Promise<void> | undefined;

  async function run<T>(unit: Unit<T>, terms: UnitOptions): Promise<Done<T>> {
    try {
      return await units.run(unit, terms);
    } catch (error) {
      throw closing ? error : failed(error);
    }
  }

  /** Makes the changes of a unit durable. @param transaction null if the unit has changed nothing */
  function flushed(transaction: NumberedTransaction | null): Promise<void> {
    if (transaction === null) return Promise.resolve();
    const flushed = flushOrFindOut(transaction).finally(() => flushing.delete(flushed));
    flushing.add(flushed);
    return flushed;
  }

  async function flushOrFindOut(transaction: NumberedTransaction): Promise<void> {
    let cause: StorageError;
    try {
      if ((await flush()) === transaction.epoch) return;
      cause = new StorageError(SERVER_CRASHED, 'the database server has crashed after a commit');
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      cause = error;
    }
    // Perhaps only the connection of the flush was lost. Unless the server has crashed, the transaction is still
    // committed.
    await outcomes.requireCommitted(transaction, cause);
    await flush();
  }

  return {
    read: replica === undefined ? repositories : replica.withLists(repositories),
    shareReads: () => SHARED,
    async write(unit, { isolated = true } = {}) {
      const { value, transaction } = await run(unit, { isolated });
      await flushed(transaction);
      return value;
    },
    async commit<T>(unit: Unit<T>): Promise<Committed<T>> {
      const { value, transaction } = await run(unit, { isolated: true });
      const durable = flushed(transaction);
      durable.catch(() => {});
      return { value, durable };
    },
    async note(unit) {
      await run(unit, { isolated: false });
    },
    fence(instance, place) {
      for (const [number, writer] of writers.entries()) writer.fence(instance, place * writers.length + number);
    },
    async clock() {
      const { rows } = await query({ text: CLOCK });
      return Number(rows[0]?.[0]);
    },
    settingsVersion: listener.version,
    planChanges: () => null,
    async healthy() {
      if (closing || health.failing() !== null) return false;
      return await readers.query({ text: 'select 1' }).then(
        () => true,
        () => false,
      );
    },
    state: () => readState(readers.query, replica),
    probe: () => health.probe(async () => void (await flush())),
    fold: async () =>
      void (await query({ text: 'select fold_counts(), fold_execution_statistics(), fold_refresh_statistics()' })),
    logBytes: async () => 0,
    // Only the database server controls when deleted data disappears: tables keep it until VACUUM, and the write-ahead
    // log, archives and standbys keep it for longer.
    scrub: async () => true,
    close() {
      closing ??= closeAll();
      return closing;
    },
  };

  async function closeAll(): Promise<void> {
    await units.drain();
    // The flush of the last unit begins in the turn in which the unit ends.
    await nextTurn();
    await Promise.allSettled(flushing);
    await Promise.all([
      listener.close(),
      replica?.close(),
      readers.close(),
      ...writers.map((writer) => writer.close()),
    ]);
  }
}

async function requireUsable(query: RunQuery): Promise<void> {
  await requireEncoding(query);
  await requireSchema(query);
}

function statementsMixed(): StorageError {
  const advice = 'set DATABASE_PREPARE=off, or use PgBouncer 1.21 or later with max_prepared_statements';
  return new StorageError(
    'STORE_REFUSED',
    `a connection pool mixes up the prepared statements of its clients: ${advice}`,
  );
}

function warn(error: unknown, what: string): void {
  process.emitWarning(`${what}: ${error instanceof Error ? error.message : String(error)}`);
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
