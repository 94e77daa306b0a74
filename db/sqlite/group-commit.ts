import { STORAGE } from '../../core/budgets.ts';
import { RetryableError, StorageError } from '../errors.ts';
import type { Committed } from '../store.ts';
import { pauseAfter, type Wait, wait as waitFor } from './busy.ts';
import type { Synced } from './durability.ts';
import { isBusy, isFatal, syncFailed, translateError } from './errors.ts';

/** The transaction control of one writer connection. */
export interface TransactionControl {
  begin(): void;
  commit(): Promise<void>;
  /** Calls back when everything that was committed before is durable. */
  sync(done: Synced): void;
  rollback(): void;
  savepoint(): void;
  release(): void;
  rollbackToSavepoint(): void;
  /** Whether a transaction is open; SQLite may have rolled back on an I/O error. */
  isOpen(): boolean;
  /** Called for every transaction, and every unit of one, that failed because of the storage. */
  failed(error: StorageError): void;
}

export interface GroupCommit<Tx> {
  /**
   * Queues a unit of work. The promise resolves when its transaction is durable, and rejects when the unit was rolled
   * back.
   */
  write<T>(unit: (tx: Tx) => Promise<T>): Promise<T>;
  /** Queues a unit of work. The promise resolves when its transaction is committed, before it is durable. */
  commit<T>(unit: (tx: Tx) => Promise<T>): Promise<Committed<T>>;
  /**
   * Queues a unit of work that need not be durable soon: it becomes durable with the next durable write. The promise
   * resolves when its transaction is committed.
   */
  note(unit: (tx: Tx) => Promise<unknown>): Promise<void>;
  /**
   * Lets other work run on the event loop during a unit. The transaction stays open, so other units wait, and reads
   * continue to see what was committed before.
   */
  yieldToEventLoop(): Promise<void>;
  /** Whether the writer can be trusted; if not, every further write is rejected. */
  healthy(): boolean;
  /** Rejects new units and waits for the queued ones. */
  drain(): Promise<void>;
}

interface Entry<Tx> {
  unit: (tx: Tx) => Promise<unknown>;
  /** What the caller waits for. */
  until: 'durable' | 'committed' | 'noted';
  /** How much time had been lost to locks of other processes when the unit was queued, in milliseconds. */
  lockedMsBefore: number;
  resolve: (value: never) => void;
  reject: (reason: unknown) => void;
}

type Outcome = { ok: true; value: unknown } | { ok: false; error: unknown };

/**
 * How many event-loop turns a group always waits for more units, because requests that arrived together need different
 * numbers of turns until they queue their units. On an idle server, these turns take microseconds.
 */
const LEAST_TURNS = 2;
/**
 * How many event-loop turns a group waits at most, as long as each turn brings more units. Without this wait, groups
 * would be small on a fast disk. Notes always wait this long for other writes, which saves them a separate transaction.
 */
const MAX_TURNS = 4;

/** The limits of one group. The defaults are in `STORAGE`. */
export interface GroupBounds {
  /** The maximum number of units in one transaction. */
  units?: number | undefined;
  /** No further unit starts after this many milliseconds; the remaining units run in the next transaction. */
  unitsMs?: number | undefined;
}

/**
 * Shares durable commits. Units that arrive within a few turns of the event loop form a group: they run one after the
 * other in one transaction. Each has its own savepoint, so that a unit that throws rolls back only its own writes.
 * While a commit is being synced, units that must be durable wait, because they could not become durable sooner. So a
 * busy server has larger groups.
 *
 * A group runs within one turn, unless a large unit calls `yieldToEventLoop`. It ends early when its units take long,
 * because the commit and the callers, which continue in the same turn, take about as long again. One turn suffices
 * because the calls of a unit settle without I/O. A unit that awaits anything slower is detected when the microtask
 * queue is empty, and is rolled back and rejected. So a transaction never waits for I/O, and no other unit runs in
 * between.
 *
 * If another process holds the write lock, the group returns to the queue and is retried after a pause. Units that have
 * waited too long are rejected (`STORAGE.lockWaitMs`).
 *
 * @param openScope creates the `tx` of one unit, and the function that makes this `tx` unusable
 * @param clock milliseconds of a clock that is never set back
 */
export function createGroupCommit<Tx>(
  control: TransactionControl,
  openScope: () => { tx: Tx; close: () => void },
  { units: maxUnits = STORAGE.groupUnits, unitsMs: maxMs = STORAGE.groupMs }: GroupBounds = {},
  wait: Wait = waitFor,
  clock: () => number = () => performance.now(),
): GroupCommit<Tx> {
  const waiting: Entry<Tx>[] = [];
  const idle: (() => void)[] = [];
  let scheduled = false;
  let syncs = 0;
  let closed = false;
  let failure: StorageError | undefined;
  let interrupt: (() => void) | undefined;
  /** The number of calls of `yieldToEventLoop` that are waiting. */
  let pendingYields = 0;
  /** Total time lost to locks, in milliseconds. */
  let lockedMs = 0;
  let pauseMs = 0;

  function schedule(): void {
    if (scheduled || waiting.length === 0) return;
    if (syncs > 0 && waiting.every((entry) => entry.until === 'durable')) return;
    scheduled = true;
    let seen = waiting.length;
    let turns = 0;
    const look = () => {
      const more = (turns < LEAST_TURNS || waiting.length > seen || waiting.every(isNote)) && ++turns < MAX_TURNS;
      seen = waiting.length;
      if (more) setImmediate(look);
      else void flush().finally(end);
    };
    const end = () => {
      scheduled = false;
      goOn();
    };
    setImmediate(look);
  }

  function goOn(): void {
    schedule();
    if (isIdle()) for (const done of idle.splice(0)) done();
  }

  function isIdle(): boolean {
    return !scheduled && syncs === 0 && waiting.length === 0;
  }

  async function flush(): Promise<void> {
    const group = waiting.splice(0, maxUnits);
    try {
      if (failure !== undefined) throw refused(failure);
      if (!begin()) return await requeue(group);
      watch();
      const outcomes: Outcome[] = [];
      const endAt = clock() + maxMs;
      for (const entry of group) {
        const scope = beginUnit();
        outcomes.push(endUnit(scope, await run(entry, scope.tx)));
        // The remaining units run in the next transaction.
        if (clock() >= endAt) waiting.unshift(...group.splice(outcomes.length));
      }
      await control.commit();
      if (group.every(isNote)) settleAll(group, outcomes, 'noted');
      else makeDurable(group, outcomes);
    } catch (cause) {
      const error = giveUp(cause);
      for (const entry of group) entry.reject(error);
    }
  }

  /** @returns false if another process holds the lock */
  function begin(): boolean {
    try {
      control.begin();
      pauseMs = 0;
      return true;
    } catch (error) {
      if (isBusy(error)) return false;
      throw error;
    }
  }

  async function requeue(group: Entry<Tx>[]): Promise<void> {
    waiting.unshift(...group);
    pauseMs = pauseAfter(pauseMs);
    await wait(pauseMs);
    lockedMs += pauseMs;
    const expired: Entry<Tx>[] = [];
    for (const entry of waiting.splice(0)) {
      if (lockedMs - entry.lockedMsBefore < STORAGE.lockWaitMs) waiting.push(entry);
      else expired.push(entry);
    }
    if (expired.length === 0) return;
    const error = locked();
    control.failed(error);
    for (const entry of expired) entry.reject(error);
  }

  function makeDurable(group: Entry<Tx>[], outcomes: Outcome[]): void {
    const durable = Promise.withResolvers<void>();
    durable.promise.catch(() => {});
    settleAll(group, outcomes, 'noted');
    settleAll(group, outcomes, 'committed', durable.promise);
    syncs++;
    control.sync((cause) => {
      syncs--;
      const error = cause && giveUp(syncFailed(cause));
      if (error) {
        durable.reject(error);
        for (const entry of group) entry.reject(error);
      } else {
        durable.resolve();
        settleAll(group, outcomes, 'durable');
      }
      goOn();
    });
  }

  function beginUnit() {
    control.savepoint();
    return openScope();
  }

  /** Runs one unit. Never rejects. */
  function run(entry: Entry<Tx>, tx: Tx): Promise<Outcome> {
    return new Promise((resolve) => {
      const failed = (error: unknown) => resolve({ ok: false, error });
      interrupt = () => failed(heldOverIo());
      try {
        entry.unit(tx).then((value) => resolve({ ok: true, value }), failed);
      } catch (error) {
        failed(error);
      }
    });
  }

  /** Keeps the writes of a unit, or rolls them back. Throws only if the whole transaction is lost. */
  function endUnit(scope: { close(): void }, outcome: Outcome): Outcome {
    interrupt = undefined;
    scope.close();
    if (!outcome.ok) {
      if (!control.isOpen() || isFatal(outcome.error)) throw outcome.error;
      if (outcome.error instanceof StorageError) control.failed(outcome.error);
      control.rollbackToSavepoint();
    }
    control.release();
    return outcome;
  }

  /**
   * Checks a unit in the tick after the microtask queue is empty: if it is still running then, it waits for something
   * other than its `tx`.
   */
  function watch(): void {
    queueMicrotask(() =>
      process.nextTick(() => {
        if (interrupt === undefined || pendingYields > 0) return;
        interrupt();
        watch();
      }),
    );
  }

  async function yieldToEventLoop(): Promise<void> {
    pendingYields++;
    await new Promise((resolve) => setImmediate(resolve));
    pendingYields--;
    // A sync that failed in the meantime has ended the transaction, so the unit must not write any more.
    if (!control.isOpen()) throw transactionLost(failure);
    watch();
  }

  function giveUp(cause: unknown): StorageError {
    const translated = translateError(cause);
    const error = translated instanceof StorageError ? translated : transactionLost(translated);
    if (isFatal(error)) failure = error;
    try {
      if (control.isOpen()) control.rollback();
    } catch (rollbackError) {
      failure ??= new StorageError('ROLLBACK_FAILED', 'a transaction could not be rolled back', {
        cause: rollbackError,
      });
    }
    control.failed(error);
    return error;
  }

  function enqueue(unit: Entry<Tx>['unit'], until: Entry<Tx>['until']): Promise<never> {
    if (failure !== undefined) return Promise.reject(refused(failure));
    if (closed) return Promise.reject(new StorageError('STORE_CLOSED', 'the store is closed'));
    return new Promise((resolve, reject) => {
      waiting.push({ unit, until, lockedMsBefore: lockedMs, resolve, reject });
      schedule();
    });
  }

  return {
    write: (unit) => enqueue(unit, 'durable'),
    commit: (unit) => enqueue(unit, 'committed'),
    note: (unit) => enqueue(unit, 'noted'),
    yieldToEventLoop,
    healthy: () => failure === undefined && !closed,
    drain() {
      closed = true;
      if (isIdle()) return Promise.resolve();
      return new Promise((resolve) => idle.push(resolve));
    },
  };
}

function isNote({ until }: Pick<Entry<never>, 'until'>): boolean {
  return until === 'noted';
}

/** Settles the units of a group whose callers wait for this moment. */
function settleAll<Tx>(
  group: Entry<Tx>[],
  outcomes: Outcome[],
  moment: Entry<Tx>['until'],
  durable?: Promise<void>,
): void {
  for (const [place, { until, resolve, reject }] of group.entries()) {
    const outcome = outcomes[place] as Outcome;
    if (until !== moment) continue;
    if (!outcome.ok) reject(outcome.error);
    else resolve((durable ? { value: outcome.value, durable } : outcome.value) as never);
  }
}

function heldOverIo(): Error {
  return new Error('a transaction was held over I/O: a unit may await nothing but the repositories of its transaction');
}

function transactionLost(cause: unknown): StorageError {
  return new StorageError('TRANSACTION_LOST', 'the transaction was lost', { cause });
}

function locked(): StorageError {
  return new RetryableError('SQLITE_BUSY', 'another process holds the write lock of the database');
}

function refused(cause: StorageError): StorageError {
  return new StorageError(
    'STORE_REFUSED',
    'the database failed earlier; writes are rejected until the server is restarted',
    {
      cause,
    },
  );
}
