import { LIST } from '../core/budgets.ts';
import { createAfterCommit } from './after-commit.ts';
import { joinEndings } from './ending.ts';
import { isDiskFault, type StorageError, syncFailed, translateError } from './errors.ts';
import { createRepositories, type ReadRepositories, type Transaction } from './repositories.ts';
import { openScope } from './scope.ts';
import type { SliceLimits } from './slices.ts';
import { isBusy, untilFree } from './sqlite/busy.ts';
import { createCheckpointThread } from './sqlite/checkpoint-thread.ts';
import { createCheckpointer, type LogBounds } from './sqlite/checkpointer.ts';
import { createMeasure } from './sqlite/claims.ts';
import { assertComplete } from './sqlite/complete.ts';
import { type Durability, openDurability, openMainFile } from './sqlite/durability.ts';
import { distrustFiles, startFreshLog } from './sqlite/fresh-log.ts';
import { type Committed, createGroupCommit } from './sqlite/group-commit.ts';
import { createHighWaterMark } from './sqlite/high-water-mark.ts';
import { type MarkFile, openMarkFile } from './sqlite/mark-file.ts';
import { migrate } from './sqlite/migrate.ts';
import {
  type Client,
  type Connections,
  type OpenOptions,
  openConnections,
  openReader,
  refusal,
} from './sqlite/open.ts';
import { createReadTurn, type ReadTurn } from './sqlite/read-turn.ts';
import { createTransactionControl } from './sqlite/transaction-control.ts';
import { createStorageHealth, type HealthWatch } from './storage-health.ts';

export type { AccountReads, AccountRepository } from './accounts/repository.ts';
export { type EnvironmentId, environmentId } from './environment-id.ts';
export { contentHash } from './environment-tools.ts';
export { RelationError, StorageError, UniqueError } from './errors.ts';
export type { Page, PageRequest, Total } from './page.ts';
export type { ReadRepositories, Repositories, Transaction } from './repositories.ts';
export type * from './rows/accounts.ts';
export type * from './rows/api-clients.ts';
export type * from './rows/audit.ts';
export type * from './rows/auth-flows.ts';
export type * from './rows/auth-requests.ts';
export type * from './rows/connections.ts';
export type * from './rows/custom-providers.ts';
export type * from './rows/deployment-secrets.ts';
export type * from './rows/environment-tools.ts';
export type * from './rows/environments.ts';
export type * from './rows/executions.ts';
export type * from './rows/idempotency-keys.ts';
export type * from './rows/instances.ts';
export type * from './rows/json-object.ts';
export type * from './rows/key-rotation.ts';
export type * from './rows/mcp-configs.ts';
export type * from './rows/outbox.ts';
export type * from './rows/refresh-leases.ts';
export type * from './rows/stored-contents.ts';
export type { Committed } from './sqlite/group-commit.ts';
export { holdInstanceLock, type InstanceLock } from './sqlite/instance-lock.ts';

export interface Store {
  /** What is committed, and nothing else. */
  readonly read: ReadRepositories;
  /**
   * Lets all reads of this turn of the event loop see one state, which costs less than one each. For whoever has just been called
   * with something new from outside, such as a request: nothing can have been committed elsewhere that the caller knows of and this
   * state lacks. Never throws; if no snapshot can be opened, each read fails on its own.
   */
  shareReads(): void;
  /**
   * Runs a unit of work in a transaction and resolves with its result once that is durable. A unit that throws is undone, and its
   * error is the rejection. It may await nothing but the functions of its `tx`: fetch first, write then. Inside of it read through
   * `tx` as well, since `read` shows what was committed before.
   *
   * @throws StorageError when the transaction is lost as a whole, or the store is closed or has failed
   */
  write<T>(unit: (tx: Transaction) => Promise<T>): Promise<T>;
  /**
   * As `write`, but resolves when the transaction is committed: it outlives this process then, and `durable` settles once it outlives
   * a loss of power. For work that can go on meanwhile; nothing may be acknowledged before.
   */
  commit<T>(unit: (tx: Transaction) => Promise<T>): Promise<Committed<T>>;
  /**
   * As `commit`, for what nobody is told of: it becomes durable with the next write that asks for it. A loss of power may take back
   * the last of them, so only for what can be missing.
   */
  note(unit: (tx: Transaction) => Promise<unknown>): Promise<void>;
  /** Whether reads work, and the last writes did. */
  healthy(): boolean;
  /** Makes a write where the last ones failed, to find out whether they work again. Call it at intervals. Never rejects. */
  probe(): Promise<void>;
  /**
   * Removes from the files what was deleted or replaced before this call: moves the log into the main file and cuts it to zero bytes.
   * What it moves is durable already, so a failure loses nothing.
   *
   * @returns false while another process, or a long transaction of this one, reads or writes the database and so keeps the log: call it
   *   again later
   * @throws StorageError
   */
  scrub(): Promise<boolean>;
  /** Waits for the writes under way, refuses new ones, closes the file. */
  close(): Promise<void>;
}

export interface StoreOptions extends OpenOptions {
  /** The database file; it is made where there is none. */
  path: string;
  /** Milliseconds UTC. */
  now: () => number;
  /** The most units of one transaction (default 256). */
  maxGroup?: number | undefined;
  logBounds?: LogBounds | undefined;
  /** How much of a list one statement reads (default LIST of core/budgets.ts). */
  listLimits?: SliceLimits | undefined;
  watch?: StoreWatch | undefined;
}

export interface StoreWatch extends HealthWatch {
  /** Told of failures that no caller waits for. By default they are emitted as warnings of the process. */
  report?: ((error: unknown, what: string) => void) | undefined;
}

export interface StoreConnections extends Connections {
  /** Holds a place in the log now and then, for the checkpointer. */
  pin: Client;
}

/** What the store syncs by itself. */
export interface StoreFiles {
  /** From the opening of the store on its connections sync the log no more. */
  log: Durability;
  main: Durability;
  mark: MarkFile;
}

/**
 * Opens the database, brings it to the newest migration and returns the store over it.
 *
 * @throws StorageError when the file or the library is not usable, when data is missing that was durable, or when the migrations do not
 *   fit
 */
export async function openStore(options: StoreOptions): Promise<Store> {
  const { path, now, maxGroup, logBounds, listLimits, watch, ...opening } = options;
  await untilFree(() => assertComplete(path)).catch((error) => {
    throw refusal(path, error);
  });
  const connections = await untilFree(() => openConnections(path, opening));
  const opened = Object.values(connections);
  try {
    await startFreshLog(connections.writer);
    await untilFree(() => migrate(connections.writer, now));
    const pin = openReader(path, opened);
    return createStore({ ...connections, pin }, openFiles(path), { maxGroup, logBounds, listLimits, watch });
  } catch (error) {
    for (const client of opened.reverse()) client.close();
    throw refusal(path, error);
  }
}

/** The files of a database, which must be open already. */
export function openFiles(path: string): StoreFiles {
  return { log: openDurability(`${path}-wal`), main: openMainFile(path), mark: openMarkFile(path) };
}

type CreateOptions = Pick<StoreOptions, 'maxGroup' | 'logBounds' | 'listLimits' | 'watch'>;

/** The store over the connections to a migrated database. */
export function createStore(
  { writer, reader, pin }: StoreConnections,
  files: StoreFiles,
  { maxGroup, logBounds, listLimits = LIST, watch = {} }: CreateOptions = {},
): Store {
  const { report = warn } = watch;
  writer.pragma('synchronous = normal');
  const { repositories, ending } = createRepositories(writer);
  const afterCommit = createAfterCommit((error) => report(error, 'an effect of a committed write failed'));
  const transaction: Transaction = { ...repositories, afterCommit: afterCommit.add, breathe: () => group.breathe() };
  const turn = createReadTurn(reader, (error) => report(error, 'a shared read could not be ended'));
  const thread = createCheckpointThread(writer.name);
  const failed = (error: Error) => control.failed(syncFailed(error));
  const checkpointer = createCheckpointer({ writer, pin, main: files.main, thread, failed }, logBounds);
  const health = createStorageHealth(watch);
  const mark = createHighWaterMark({
    file: files.mark,
    measure: createMeasure(pin),
    syncLog: (done) => files.log.sync((cause) => done(cause ?? checkpointer.failure())),
    report: (error) => report(error, 'what is durable could not be marked'),
  });
  const control = createTransactionControl(writer, {
    turn,
    ending: joinEndings([ending, afterCommit.ending]),
    afterCommit,
    checkpointer,
    mark,
    health,
    distrust: () => distrustFiles(writer.name),
  });
  const group = createGroupCommit(control, () => openScope(transaction), maxGroup);
  const alive = reader.prepare('select 1');
  // Writes the page with the header of the file, and changes nothing in it.
  const touch = writer.prepare('pragma user_version = 0');
  let closed: Promise<void> | undefined;
  const pacing = { limits: listLimits, breathe: nextTurn };
  const readFailed = (error: StorageError) => {
    if (isDiskFault(error)) health.failed(error);
  };
  return {
    read: withSharedStates(createRepositories(reader, pacing, readFailed).repositories, turn),
    shareReads() {
      try {
        turn.begin();
      } catch {
        // Sharing is about speed alone; a database that is not there is noticed by whoever reads it.
      }
    },
    write: group.write,
    commit: group.commit,
    note: group.note,
    healthy() {
      try {
        return group.healthy() && health.failing() === null && alive.get() !== undefined;
      } catch {
        return false;
      }
    },
    async scrub() {
      try {
        return await checkpointer.empty(() => group.note(async () => touch.run()), turn.end);
      } catch (error) {
        if (isBusy(error)) return false;
        throw translateError(error);
      }
    },
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
    // The last one to close moves the log into the main file, unless it can only read: the log is all there is after a failed sync.
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

/** The state of a client is looked at for every request: the requests of one turn share the look. */
function withSharedStates(read: ReadRepositories, turn: ReadTurn): ReadRepositories {
  const { state } = read.apiClients;
  const shared: typeof state = (environmentId, id) =>
    turn.once(`${environmentId} ${id}`, () => state(environmentId, id));
  return { ...read, apiClients: { ...read.apiClients, state: shared } };
}
