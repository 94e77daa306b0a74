import { stat } from 'node:fs/promises';
import { LIST } from '../../core/budgets.ts';
import { createAfterCommit } from '../after-commit.ts';
import { joinEndings } from '../ending.ts';
import type { StoreOptions } from '../engine.ts';
import type { EnvironmentId } from '../environment-id.ts';
import type { StorageError } from '../errors.ts';
import type { ReadRepositories, Transaction } from '../repositories.ts';
import { openScope } from '../scope.ts';
import { createStorageHealth } from '../storage-health.ts';
import type { Store } from '../store.ts';
import { retryWhileLocked } from './busy.ts';
import { createCheckpointThread } from './checkpoint-thread.ts';
import { createCheckpointer, type LogBounds } from './checkpointer.ts';
import { createMeasure } from './claims.ts';
import { assertComplete } from './complete.ts';
import { type Durability, openDurability, openMainFile } from './durability.ts';
import { isBusy, isDiskFault, syncFailed, translateError } from './errors.ts';
import { markFilesUntrusted, startFreshLog } from './fresh-log.ts';
import { createGroupCommit } from './group-commit.ts';
import { createHighWaterMark } from './high-water-mark.ts';
import { type MarkFile, openMarkFile } from './mark-file.ts';
import { migrate } from './migrate.ts';
import { type Client, type Connections, type OpenOptions, openConnections, openReader, refusal } from './open.ts';
import { createPlanChanges } from './plan-changes.ts';
import { createReadTurn, type ReadTurn } from './read-turn.ts';
import { createSqliteRepositories } from './repositories.ts';
import { createSettingsVersion } from './settings-version.ts';
import { createTransactionControl } from './transaction-control.ts';

export interface SqliteOptions extends OpenOptions, Omit<StoreOptions, 'location'> {
  /** The database file; it is created if it does not exist. */
  path: string;
  /** The maximum number of units in one transaction (default 256). */
  maxGroup?: number | undefined;
  logBounds?: LogBounds | undefined;
}

export interface StoreConnections extends Connections {
  /** Opens reads at the end of the log for the checkpointer. */
  pin: Client;
}

/** The files that the store syncs itself. */
export interface StoreFiles {
  /** After the store was opened, its connections no longer sync the log themselves. */
  log: Durability;
  main: Durability;
  mark: MarkFile;
}

/**
 * Opens the database, applies missing migrations and returns the store.
 *
 * @throws StorageError if the file or SQLite's version is not usable, if durable data is missing, or if the migrations
 * do not match
 */
export async function openSqliteStore(options: SqliteOptions): Promise<Store> {
  const { path, now, maxGroup, logBounds, listLimits, watch, ...opening } = options;
  await retryWhileLocked(() => assertComplete(path)).catch((error) => {
    throw refusal(path, error);
  });
  const connections = await retryWhileLocked(() => openConnections(path, opening));
  const opened = Object.values(connections);
  try {
    await startFreshLog(connections.writer);
    await retryWhileLocked(() => migrate(connections.writer, now));
    const pin = await retryWhileLocked(() => openReader(path));
    opened.push(pin);
    return createStore({ ...connections, pin }, openFiles(path), { maxGroup, logBounds, listLimits, watch });
  } catch (error) {
    for (const client of opened.reverse()) client.close();
    throw refusal(path, error);
  }
}

/** Opens the files of a database. The database must already be open, so that the file of its log exists. */
export function openFiles(path: string): StoreFiles {
  return { log: openDurability(`${path}-wal`), main: openMainFile(path), mark: openMarkFile(path) };
}

/** The result of every call of `shareReads`. One promise serves all calls, because every request makes such a call. */
const SHARED = Promise.resolve();

type CreateOptions = Pick<SqliteOptions, 'maxGroup' | 'logBounds' | 'listLimits' | 'watch'>;

/** Creates the store with connections to a migrated database. */
export function createStore(
  { writer, reader, pin }: StoreConnections,
  files: StoreFiles,
  { maxGroup, logBounds, listLimits = LIST, watch = {} }: CreateOptions = {},
): Store {
  const { report = warn } = watch;
  writer.pragma('synchronous = normal');
  const changes = createPlanChanges(writer);
  const { repositories, ending } = createSqliteRepositories(writer, { planChanges: changes.count });
  const afterCommit = createAfterCommit((error) => report(error, 'an effect of a committed write failed'));
  const settingsVersion = createSettingsVersion(writer, afterCommit.add);
  const transaction: Transaction = {
    ...repositories,
    afterCommit: afterCommit.add,
    yieldToEventLoop: () => group.yieldToEventLoop(),
  };
  // Whenever another connection has committed, SQLite drops the page cache of a connection. So reads use the connection
  // that commits, unless one of its transactions is open, whose changes they must not see.
  const turn = createReadTurn(
    () => (writer.inTransaction || !group.healthy() ? reader : writer),
    (error) => report(error, 'a shared read could not be ended'),
  );
  const thread = createCheckpointThread(writer.name);
  const failed = (error: Error) => control.failed(syncFailed(error));
  const checkpointer = createCheckpointer({ writer, pin, main: files.main, thread, failed }, logBounds);
  const health = createStorageHealth(watch);
  const mark = createHighWaterMark({
    file: files.mark,
    measure: createMeasure(pin),
    syncLog: (done) => files.log.sync((cause) => done(cause ?? checkpointer.failure())),
    report: (error) => report(error, 'the durable state could not be recorded'),
  });
  const control = createTransactionControl(writer, {
    turn,
    changes,
    ending: joinEndings([ending, afterCommit.ending]),
    afterCommit,
    checkpointer,
    mark,
    health,
    distrust: () => markFilesUntrusted(writer.name),
  });
  const group = createGroupCommit(control, () => openScope(transaction), { units: maxGroup });
  const alive = reader.prepare('select 1');
  // Writes the page with the file header, without changing it.
  const touch = writer.prepare('pragma user_version = 0');
  let closed: Promise<void> | undefined;
  const pacing = { limits: listLimits, yieldToEventLoop: nextTurn };
  const readFailed = (error: StorageError) => {
    if (isDiskFault(error)) health.failed(error);
  };
  return {
    read: withSharedReads(createSqliteRepositories(turn.client, { pacing, failed: readFailed }).repositories, turn),
    shareReads() {
      try {
        turn.begin();
      } catch {
        // Sharing only improves speed. If the database cannot be read, the reads themselves report it.
      }
      return SHARED;
    },
    write: group.write,
    commit: group.commit,
    note: group.note,
    fence() {},
    clock: null,
    fold: null,
    async healthy() {
      try {
        return group.healthy() && health.failing() === null && alive.get() !== undefined;
      } catch {
        return false;
      }
    },
    state: async () => ({ engine: 'sqlite', role: 'primary', replica: null, standbys: [] }),
    async scrub() {
      try {
        return await checkpointer.empty(() => group.note(async () => touch.run()), turn.end);
      } catch (error) {
        if (isBusy(error)) return false;
        throw translateError(error);
      }
    },
    settingsVersion,
    planChanges: changes.count,
    logBytes: async () => (await stat(`${writer.name}-wal`)).size,
    probe: () => health.probe(() => group.write(async () => touch.run())),
    close() {
      closed ??= closeAll();
      return closed;
    },
  };

  async function closeAll(): Promise<void> {
    await group.drain();
    turn.end();
    await checkpointer.idle();
    await mark.close();
    await thread.end();
    files.log.close();
    // The last connection to close moves the log into the main file, unless it is read-only. After a failed sync the
    // log must be kept, so a read-only connection closes last.
    const inOrder = checkpointer.failure() ? [writer, reader, pin] : [pin, reader, writer];
    for (const client of inOrder) client.close();
    files.main.close();
  }
}

function warn(error: unknown, what: string): void {
  process.emitWarning(`${what}: ${error instanceof Error ? error.message : String(error)}`);
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/**
 * The requests of one turn share the reads that many of them have in common: the state of their client, and for calls
 * the connection and the overlays of the tool.
 */
function withSharedReads(read: ReadRepositories, turn: ReadTurn): ReadRepositories {
  const { apiClients, connections, toolOverlays } = read;
  const once =
    <T>(kind: string, one: (environmentId: EnvironmentId, name: string) => T) =>
    (environmentId: EnvironmentId, name: string): T =>
      turn.once(`${kind} ${environmentId} ${name}`, () => one(environmentId, name));
  return {
    ...read,
    apiClients: { ...apiClients, state: once('client', apiClients.state) },
    connections: { ...connections, get: once('connection', connections.get) },
    toolOverlays: { ...toolOverlays, named: once('overlays', toolOverlays.named) },
  };
}
