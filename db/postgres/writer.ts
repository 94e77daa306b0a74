import { POSTGRES } from '../../core/budgets.ts';
import { type AfterCommit, createAfterCommit } from '../after-commit.ts';
import { joinEndings } from '../ending.ts';
import { StorageError } from '../errors.ts';
import { createRepositories, type Transaction } from '../repositories.ts';
import { openScope } from '../scope.ts';
import { type AuditLane, changeLane, createAuditLanes, isLaneTaken, laneTakenError } from './audit-lanes.ts';
import type { CommitOutcomes } from './commit-outcomes.ts';
import { ConflictError } from './errors.ts';
import { newestMigration } from './load-migrations.ts';
import type { ReconnectingSession } from './reconnecting-session.ts';
import type { Query, QueryResult, Session } from './session.ts';
import { createPostgresStatements } from './statements.ts';

export type Unit<T> = (tx: Transaction) => Promise<T>;

export interface UnitOptions {
  /** Whether the commit must survive a power loss of the server. */
  durable: boolean;
  /** Whether the unit relies on what it has read: see `WriteOptions`. */
  isolated: boolean;
}

export interface WriterRunOptions extends UnitOptions {
  /** Whether no other unit may run at the same time, in any process. */
  alone: boolean;
  /** Whether an earlier run had a conflict. */
  again: boolean;
}

/** A connection that runs one unit at a time, each in its own transaction. */
export interface Writer {
  /**
   * Runs a unit once, and its effects after the commit.
   *
   * @throws ConflictError if nothing was changed and another run can succeed; StorageError; what the unit throws
   */
  run<T>(unit: Unit<T>, terms: WriterRunOptions): Promise<T>;
  /** From now on, units fail if the instance is not registered. */
  fence(instance: number): void;
  close(): Promise<void>;
}

export interface WriterDeps {
  connection: ReconnectingSession;
  /** The number of the connection in this process. The connection starts with the audit lane of this number. */
  place: number;
  prepare: boolean;
  outcomes: CommitOutcomes;
  /** Receives the error of a failed effect. */
  report(error: unknown): void;
}

/** A transaction whose unit is running. */
interface Running {
  session: Session;
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
const ISOLATED = `begin isolation level serializable; ${NO_SCANS}`;
const SHARED = `begin isolation level read committed; ${NO_SCANS}`;

/**
 * Makes the statements of units different from those of readers: a connection pool that shares prepared statements by
 * their text could otherwise execute them with a plan that was made without NO_SCANS.
 */
const UNIT_MARK = ' /* unit */';

export function createWriter({ connection, place, prepare, outcomes, report }: WriterDeps): Writer {
  const lane: AuditLane = { number: place, heads: new Map() };
  const afterCommit: AfterCommit = createAfterCommit(report);
  const statements = createPostgresStatements((statement) => query(statement), prepare, UNIT_MARK);
  const { repositories, ending: ofRepositories } = createRepositories(statements, {
    auditHeads: (made) => createAuditLanes(made, lane),
    schemaNumber: newestMigration(),
  });
  const ending = joinEndings([ofRepositories, afterCommit.ending]);
  const transaction: Transaction = { ...repositories, afterCommit: afterCommit.add, yieldToEventLoop };
  let running: Running | undefined;
  let fenced: number | undefined;

  async function query(statement: Query): Promise<QueryResult> {
    const unit = running as Running;
    unit.calls++;
    unit.hasWritten ||= !statement.text.startsWith('select');
    try {
      return await unit.session.query(statement);
    } catch (error) {
      unit.failure ??= error;
      throw error;
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

  async function run<T>(unit: Unit<T>, terms: WriterRunOptions): Promise<T> {
    const session = await connection.session();
    if (terms.again) lane.heads.clear();
    ending.begin();
    const begun = begin(session, terms, fenced);
    const current: Running = { session, calls: 0, hasWritten: false, failure: undefined, isQuiet: () => {} };
    running = current;
    const scope = openScope(transaction);
    try {
      const value = await untilDone(unit, scope.tx, current);
      await begun;
      // A unit that caught the error of a statement must not continue, because its earlier writes were rolled back.
      if (current.failure !== undefined) throw current.failure;
      await commit(current);
      ending.keep();
      return value;
    } catch (error) {
      ending.undo();
      await untilQuiet(current);
      await rollback(session);
      throw await reasonOf(error, current, begun);
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

  async function commit(current: Running): Promise<void> {
    const { session } = current;
    if (!current.hasWritten) return await end(session, undefined);
    const xid = session.query({ text: 'select pg_current_xact_id_if_assigned()::text' });
    await Promise.all([ending.write(), xid]);
    const [[id] = []] = (await xid).rows;
    await end(session, typeof id === 'string' ? id : undefined);
  }

  /** @param xid the number of the transaction, to look up its outcome if the reply to the commit is lost */
  async function end(session: Session, xid: string | undefined): Promise<void> {
    try {
      const { command } = await session.query({ text: 'commit' });
      if (command !== 'COMMIT') throw new Error('the database rolled back a transaction at its commit');
    } catch (error) {
      if (session.isOpen() || xid === undefined || !(error instanceof StorageError)) throw error;
      await outcomes.requireCommitted(xid, error);
    }
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
    fence(instance) {
      fenced = instance;
    },
    close: () => connection.close(),
  };
}

function begin(
  session: Session,
  { durable, isolated, alone }: WriterRunOptions,
  instance: number | undefined,
): Promise<unknown> {
  const parts = [isolated ? ISOLATED : SHARED];
  if (!durable) parts.push('set local synchronous_commit = off');
  // The lock is taken before the first statement that takes a snapshot, so a unit that runs alone sees all writes before it.
  // It must not wait long for a slow unit, because all other units wait behind it.
  if (alone) {
    parts.push(`set local lock_timeout = ${POSTGRES.aloneWaitMs}`, 'lock table crowded_units in exclusive mode');
    parts.push('set local lock_timeout to default');
  } else parts.push('lock table crowded_units in row share mode');
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
