import { POSTGRES } from '../../core/budgets.ts';
import { type AfterCommit, createAfterCommit } from '../after-commit.ts';
import { joinEndings } from '../ending.ts';
import { StorageError } from '../errors.ts';
import { createRepositories, type Transaction } from '../repositories.ts';
import { openScope } from '../scope.ts';
import { type AuditLane, changeLane, createAuditLanes, isLaneTaken, useLane } from './audit-lanes.ts';
import type { CommitOutcomes, NumberedTransaction } from './commit-outcomes.ts';
import { ConflictError, isConnectionLost, laneTakenError, SERVER_CRASHED } from './errors.ts';
import { newestMigration } from './load-migrations.ts';
import type { Readers } from './readers.ts';
import type { ReconnectingSession } from './reconnecting-session.ts';
import type { EpochSession } from './server-epoch.ts';
import type { Query, QueryResult, Session } from './session.ts';
import { createPostgresStatements, nameOf } from './statements.ts';

export type Unit<T> = (tx: Transaction) => Promise<T>;

export interface UnitOptions {
  /** Whether the writes of the unit depend on its reads, so that it needs the isolation level SERIALIZABLE. */
  isolated: boolean;
}

export interface WriterRunOptions extends UnitOptions {
  /** Whether no other unit may run at the same time, in any process. */
  alone: boolean;
  /** Whether an earlier run had a conflict. */
  again: boolean;
  /** Whether several units share the transaction. Then none of its statements may wait long for a lock. */
  shared?: boolean;
}

export interface Done<T> {
  value: T;
  /** null if the unit has changed nothing. The changes survive a power failure of the server only after a flush. */
  transaction: NumberedTransaction | null;
}

/** A connection that runs one unit at a time, each in its own transaction. */
export interface Writer {
  /**
   * Runs a unit once, and its effects after the commit.
   *
   * @throws ConflictError if nothing was changed and another run can succeed; StorageError; what the unit throws
   */
  run<T>(unit: Unit<T>, terms: WriterRunOptions): Promise<Done<T>>;
  /** From now on, units fail if the instance is not registered, and append to the audit lane with this number. */
  fence(instance: number, lane: number): void;
  close(): Promise<void>;
}

export interface WriterDeps {
  connection: ReconnectingSession<EpochSession>;
  /**
   * The number of the connection in this process. The connection starts with the audit lane (a part of the audit log
   * with its own chain) of this number.
   */
  place: number;
  prepare: boolean;
  outcomes: CommitOutcomes;
  readers: Pick<Readers, 'query'>;
  /** Receives the error of a failed effect. */
  report(error: unknown): void;
}

/** A transaction whose unit is running. */
interface Running {
  session: EpochSession;
  /** The number that the server has given the transaction with its first write. */
  xid: string | undefined;
  /** Resolves when the reply to the query for `xid` has arrived; undefined if the query is not running. */
  asking: Promise<void> | undefined;
  /** The number of running calls of the unit. */
  calls: number;
  hasWritten: boolean;
  /** The error of the first statement that failed. The server rejects all later ones. */
  failure: unknown;
  /** Called when no call is running at the end of a turn. */
  isQuiet(): void;
}

// PostgreSQL would read small tables completely, which conflicts with every transaction that writes to them. Units that
// are not isolated set it too, because PostgreSQL reuses the plan of a prepared statement in later transactions.
const NO_SCANS = 'set local enable_seqscan = off';
// One flush makes the commits of many units durable, and the connection of a unit need not wait for the disk.
const LOCAL = `${NO_SCANS}; set local synchronous_commit = off`;
// Outside of transactions the connection can only read, see `readOnlyOutside`.
const ISOLATED = `begin isolation level serializable read write; ${LOCAL}`;
const NOT_ISOLATED = `begin isolation level read committed read write; ${LOCAL}`;
const XID = 'select pg_current_xact_id_if_assigned()::text';

/**
 * Makes the statements of units different from those of readers. A connection pool may share prepared statements that
 * have the same text, and could then execute those of units with a plan that was made without NO_SCANS.
 */
const UNIT_MARK = ' /* unit */';

export function createWriter({ connection, place, prepare, outcomes, readers, report }: WriterDeps): Writer {
  const lane: AuditLane = { number: place, heads: new Map() };
  const afterCommit: AfterCommit = createAfterCommit(report);
  const statements = createPostgresStatements((statement) => query(statement), prepare, UNIT_MARK);
  const { repositories, ending: ofRepositories } = createRepositories(statements, {
    auditHeads: (made) => createAuditLanes(made, lane, createPostgresStatements(queryOutside, prepare)),
    schemaNumber: newestMigration(),
  });
  const ending = joinEndings([ofRepositories, afterCommit.ending]);
  const transaction: Transaction = { ...repositories, afterCommit: afterCommit.add, yieldToEventLoop };
  let running: Running | undefined;
  let latest: Session | undefined;
  let fenced: number | undefined;

  async function query(statement: Query): Promise<QueryResult> {
    const unit = running as Running;
    unit.calls++;
    const isWrite = !statement.text.startsWith('select');
    unit.hasWritten ||= isWrite;
    try {
      const result = unit.session.query(statement);
      // Sent with the first write, so that the number is known before the commit is sent.
      if (isWrite && unit.xid === undefined && unit.asking === undefined) unit.asking = askForXid(unit);
      return await result;
    } catch (error) {
      unit.failure ??= error;
      throw error;
    } finally {
      unit.calls--;
      watch(unit);
    }
  }

  async function askForXid(unit: Running): Promise<void> {
    try {
      const {
        rows: [[xid] = []],
      } = await unit.session.query({ text: XID, name: prepare ? nameOf(XID) : undefined });
      // A statement that found no row to change gives the transaction no number.
      if (typeof xid === 'string') unit.xid = xid;
    } catch {
      // An earlier statement of the transaction has failed, so the server has rejected this one.
    } finally {
      unit.asking = undefined;
    }
  }

  /** Reads committed data outside of the transaction, so that the unit does not conflict with changes of that data. */
  async function queryOutside(statement: Query): Promise<QueryResult> {
    const unit = running as Running;
    unit.calls++;
    try {
      return await readers.query(statement);
    } finally {
      unit.calls--;
      watch(unit);
    }
  }

  async function yieldToEventLoop(): Promise<void> {
    const unit = running as Running;
    unit.calls++;
    await new Promise((resolve) => setImmediate(resolve));
    unit.calls--;
    watch(unit);
  }

  function watch(unit: Running): void {
    if (unit.calls > 0) return;
    setImmediate(() => {
      if (unit.calls === 0) unit.isQuiet();
    });
  }

  /** Waits for calls that a failed unit did not wait for, so that they do not become part of the next transaction. */
  function untilQuiet(unit: Running): Promise<void> {
    return new Promise((resolve) => {
      unit.isQuiet = resolve;
      watch(unit);
    });
  }

  async function run<T>(unit: Unit<T>, terms: WriterRunOptions): Promise<Done<T>> {
    const session = await connection.session();
    // After a conflict or on a new connection, the known last records of the chains may be wrong. The old connection
    // may have ended with a crash of the server, which can undo commits that were not durable.
    if (terms.again || session !== latest) lane.heads.clear();
    latest = session;
    ending.begin();
    const begun = begin(session, terms, fenced);
    const current: Running = {
      ...{ session, xid: undefined, asking: undefined },
      ...{ calls: 0, hasWritten: false, failure: undefined, isQuiet: () => {} },
    };
    running = current;
    const scope = openScope(transaction);
    try {
      const value = await untilDone(unit, scope.tx, current);
      // A unit that caught the error of a statement must not continue, because its earlier writes were rolled back.
      if (current.failure !== undefined) throw current.failure;
      const transaction = await commit(current, begun);
      ending.keep();
      return { value, transaction };
    } catch (error) {
      ending.undo();
      await untilQuiet(current);
      await rollback(session);
      const reason = await reasonOf(error, current, begun);
      if (reason instanceof ConflictError && reason.code === SERVER_CRASHED) await session.close().catch(() => {});
      throw reason;
    } finally {
      scope.close();
      running = undefined;
      afterCommit.run();
    }
  }

  async function untilDone<T>(unit: Unit<T>, tx: Transaction, current: Running): Promise<T> {
    const interrupted = Promise.withResolvers<never>();
    // If no call is running, the unit waits for something other than its transaction while it holds locks.
    current.isQuiet = () => interrupted.reject(heldOverIo());
    watch(current);
    const value = await Promise.race([unit(tx), interrupted.promise]);
    if (current.calls > 0) await untilQuiet(current);
    current.isQuiet = () => {};
    return value;
  }

  /** Returns null if the unit has changed nothing. */
  async function commit(current: Running, begun: Promise<unknown>): Promise<NumberedTransaction | null> {
    const { session } = current;
    // The reply with the number arrives right after that of the first write, so waiting for it adds no round trip.
    await current.asking;
    const written = ending.write();
    if (current.hasWritten && current.xid === undefined && current.asking === undefined) void askForXid(current);
    // The commit is sent together with the last writes. If one of them or the beginning of the transaction fails, the
    // server executes the commit as a rollback.
    const committed = session.query({ text: 'commit' });
    const [first, last, end] = await Promise.allSettled([begun, written, committed]);
    const { xid } = current;
    const transaction = xid === undefined ? null : { xid, epoch: session.epoch };
    // If the commit has no reply within the time limit, its error is reported before the connection is closed.
    if (end.status === 'rejected' && (!session.isOpen() || isConnectionLost(end.reason))) {
      if (transaction === null || !(end.reason instanceof StorageError)) throw end.reason;
      await outcomes.requireCommitted(transaction, end.reason);
      return transaction;
    }
    if (first.status === 'rejected') throw first.reason;
    // Statements that were sent after a failed one fail too, and may be reported before it.
    if (last.status === 'rejected') throw current.failure ?? last.reason;
    if (end.status === 'rejected') throw end.reason;
    if (end.value.command !== 'COMMIT') throw new Error('the database rolled back a transaction at its commit');
    return transaction;
  }

  /** Returns the first error of the unit, because a failed statement makes all later ones fail. */
  async function reasonOf(error: unknown, { failure }: Running, begun: Promise<unknown>): Promise<unknown> {
    const first = await begun.then(
      () => undefined,
      (reason) => reason,
    );
    const reason = first ?? (failure instanceof ConflictError ? failure : error);
    if (!isLaneTaken(reason)) return reason;
    changeLane(lane);
    return reason instanceof ConflictError ? reason : laneTakenError(reason);
  }

  return {
    run,
    fence(instance, number) {
      fenced = instance;
      useLane(lane, number);
    },
    close: () => connection.close(),
  };
}

function begin(
  session: EpochSession,
  { isolated, alone, shared }: WriterRunOptions,
  instance: number | undefined,
): Promise<unknown> {
  const parts = [isolated ? ISOLATED : NOT_ISOLATED];
  // The lock is taken before the first statement that takes a snapshot, so a unit that runs alone sees all writes
  // before it. It must not wait long for the lock, because all other units would wait behind it.
  if (alone) {
    parts.push(`set local lock_timeout = ${POSTGRES.aloneWaitMs}`, 'lock table crowded_units in exclusive mode');
    parts.push('set local lock_timeout to default');
  } else parts.push('lock table crowded_units in row share mode');
  if (shared) parts.push(`set local lock_timeout = ${POSTGRES.sharedLockMs}`);
  if (session.requireEpoch !== undefined) parts.push(session.requireEpoch);
  if (instance !== undefined) parts.push(`select require_instance(${instance})`);
  const begun = session.query({ text: parts.join('; ') });
  begun.catch(() => {});
  return begun;
}

async function rollback(session: Session): Promise<void> {
  if (!session.isOpen()) return;
  await session.query({ text: 'rollback' }).catch(() => session.close().catch(() => {}));
}

function heldOverIo(): Error {
  return new Error('a transaction was held over I/O: a unit may await nothing but the repositories of its transaction');
}
