import { type Checkpointer, createCheckpointer, type LogBounds } from './checkpointer.ts';
import { type Durability, openDurability, openMainFile } from './durability.ts';
import type { Ending } from './ending.ts';
import { translateError } from './errors.ts';
import { type Committed, createGroupCommit, type TransactionControl } from './group-commit.ts';
import { migrate } from './migrate.ts';
import { type Client, type Connections, type OpenOptions, openConnections, openReader } from './open.ts';
import { createReadTurn, type ReadTurn } from './read-turn.ts';
import { createRepositories, type ReadRepositories, type Repositories } from './repositories.ts';
import { openScope } from './scope.ts';

export type { AccountReads, AccountRepository } from './accounts/repository.ts';
export type {
  AccountChanges,
  AccountFilters,
  AccountKey,
  AccountRow,
  AccountSearch,
  AccountShownRow,
  AccountSummaryRow,
  AccountTombstone,
  NewAccount,
  StatusChange,
} from './accounts/rows.ts';
export type { ApiClientRow, ApiClientSecretRow, NewApiClient, NewApiClientSecret } from './api-clients.ts';
export type { AuditRow, AuditVerdict, NewAuditRow } from './audit.ts';
export type { AuthFlowRow, NewAuthFlow } from './auth-flows.ts';
export type { AuthRequestEnd, AuthRequestRow, NewAuthRequest, PendingGrant } from './auth-requests.ts';
export type { JsonObject } from './columns.ts';
export type { ConnectionChanges, ConnectionFilters, ConnectionRow, NewConnection } from './connections.ts';
export type { CustomProviderRow, NewCustomProvider } from './custom-providers.ts';
export type { DeploymentSecretRow, KeyCheckRow } from './deployment-secrets.ts';
export { type EnvironmentId, environmentId } from './environment-id.ts';
export type {
  EnvironmentToolRow,
  NewEnvironmentTool,
  ToolListRequest,
} from './environment-tools.ts';
export { contentHash } from './environment-tools.ts';
export type { EnvironmentRow } from './environments.ts';
export { RelationError, StorageError, UniqueError } from './errors.ts';
export type { ExecutionFilters, ExecutionOutcome, ExecutionRow, NewExecution } from './executions.ts';
export type { Committed } from './group-commit.ts';
export type {
  IdempotencyClaim,
  IdempotencyKeyName,
  IdempotencyKeyRow,
  NewIdempotencyKey,
} from './idempotency-keys.ts';
export type { SealedConnectionSecretRow, SealedWaitingRow, WrappedKeyRow } from './key-rotation.ts';
export type { McpConfigChanges, McpConfigRow, NewMcpConfig } from './mcp-configs.ts';
export type { EndedOutboxEntry, NewOutboxEntry, OutboxEnd, OutboxFilters, OutboxRow } from './outbox.ts';
export type { Page, PageRequest } from './page.ts';
export type { NewRefreshLease, RefreshEnd, RefreshHolder, RefreshLeaseRow } from './refresh-leases.ts';
export type { ReadRepositories, Repositories } from './repositories.ts';
export type {
  AccountBinding,
  AccountStatus,
  AuthorizationType,
  AuthRequestState,
  ConnectionStatus,
  EnvironmentKind,
  EnvironmentSettings,
  ExecutionStatus,
  IdempotencyState,
  OutboxResult,
  OutboxState,
  StoredMcpMapping,
  ToolSource,
} from './schema.ts';
export type { NewStoredContent, StoredContentFacts, StoredContentRow } from './stored-contents.ts';

export interface Store {
  /** What is committed, and nothing else. */
  readonly read: ReadRepositories;
  /**
   * Lets all reads of this turn of the event loop see one state, which costs less than one each. For whoever has just been called
   * with something new from outside, such as a request: nothing can have been committed elsewhere that the caller knows of and this
   * state lacks. Fails never: where nothing can be shared, each read reports for itself.
   */
  shareReads(): void;
  /**
   * Runs a unit of work in a transaction and resolves with its result once that is durable. A unit that throws is undone, and its
   * error is the rejection. It may await nothing but the functions of its `tx`: fetch first, write then. Inside of it read through
   * `tx` as well, since `read` shows what was committed before.
   *
   * @throws StorageError when the transaction is lost as a whole, or the store is closed or has failed
   */
  write<T>(unit: (tx: Repositories) => Promise<T>): Promise<T>;
  /**
   * As `write`, but resolves when the transaction is committed: it outlives this process then, and `durable` settles once it outlives
   * a loss of power. For work that can go on meanwhile; nothing may be acknowledged before.
   */
  commit<T>(unit: (tx: Repositories) => Promise<T>): Promise<Committed<T>>;
  /**
   * As `commit`, for what nobody is told of: it becomes durable with the next write that asks for it. A loss of power may take back
   * the last of them, so only for what can be missing.
   */
  note(unit: (tx: Repositories) => Promise<unknown>): Promise<void>;
  /** Whether reads work and writes are taken. */
  healthy(): boolean;
  /**
   * Moves the log into the main file and empties it, so that deleted pages leave the disk. What it moves is durable already, so a
   * failure loses nothing.
   *
   * @throws StorageError
   */
  checkpoint(): void;
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
}

/**
 * Opens the database, brings it to the newest migration and returns the room's public face.
 *
 * @throws StorageError when the file or the library is not usable, or the migrations do not fit
 */
export async function openStore({ path, now, maxGroup, logBounds, ...options }: StoreOptions): Promise<Store> {
  const connections = openConnections(path, options);
  const opened = Object.values(connections);
  try {
    migrate(connections.writer, now);
    const pin = openReader(path, opened);
    return createStore({ ...connections, pin }, openFiles(path), { maxGroup, logBounds });
  } catch (error) {
    for (const client of opened.reverse()) client.close();
    throw error;
  }
}

/** The files of a database, which must be open already. */
export function openFiles(path: string): StoreFiles {
  return { log: openDurability(`${path}-wal`), main: openMainFile(path) };
}

/** The store over the connections to a migrated database. */
export function createStore(
  { writer, reader, pin }: StoreConnections,
  files: StoreFiles,
  { maxGroup, logBounds }: Pick<StoreOptions, 'maxGroup' | 'logBounds'> = {},
): Store {
  writer.pragma('synchronous = normal');
  const { repositories, ending } = createRepositories(writer);
  const turn = createReadTurn(reader);
  const checkpointer = createCheckpointer(writer, pin, files.main, logBounds);
  const control = controlOf(writer, { turn, ending, checkpointer, log: files.log });
  const group = createGroupCommit(control, () => openScope(repositories), maxGroup);
  const alive = reader.prepare('select 1');
  return {
    read: withSharedStates(createRepositories(reader).repositories, turn),
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
        return group.healthy() && alive.get() !== undefined;
      } catch {
        return false;
      }
    },
    checkpoint() {
      try {
        turn.end();
        writer.pragma('wal_checkpoint(truncate)');
      } catch (error) {
        throw translateError(error);
      }
    },
    async close() {
      await group.drain();
      turn.end();
      await checkpointer.idle();
      files.log.close();
      // The last one to close moves the log into the main file, unless it can only read: the log is all there is after a failed sync.
      const inOrder = checkpointer.failure() ? [writer, reader, pin] : [pin, reader, writer];
      for (const client of inOrder) client.close();
      files.main.close();
    },
  };
}

/** The state of a client is looked at for every request: the requests of one turn share the look. */
function withSharedStates(read: ReadRepositories, turn: ReadTurn): ReadRepositories {
  const { state } = read.apiClients;
  const shared: typeof state = (environmentId, id) =>
    turn.once(`${environmentId} ${id}`, () => state(environmentId, id));
  return { ...read, apiClients: { ...read.apiClients, state: shared } };
}

interface ControlParts {
  turn: ReadTurn;
  ending: Ending;
  checkpointer: Checkpointer;
  log: Durability;
}

function controlOf(writer: Client, { turn, ending, checkpointer, log }: ControlParts): TransactionControl {
  const statement = (text: string) => writer.prepare(text);
  const [begin, commit, rollback] = [statement('begin immediate'), statement('commit'), statement('rollback')];
  const savepoint = statement('savepoint unit');
  const [release, undo] = [statement('release unit'), statement('rollback to unit')];
  return {
    begin() {
      turn.end();
      begin.run();
      ending.begin();
    },
    commit() {
      ending.write();
      checkpointer.around(() => commit.run());
    },
    sync: (done) => log.sync((cause) => done(cause ?? checkpointer.failure())),
    rollback: () => void rollback.run(),
    savepoint: () => void savepoint.run(),
    release() {
      release.run();
      ending.keep();
    },
    rollbackToSavepoint() {
      undo.run();
      ending.undo();
    },
    isOpen: () => writer.inTransaction,
  };
}
