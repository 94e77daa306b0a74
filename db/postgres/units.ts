import { setTimeout as pause } from 'node:timers/promises';
import { POSTGRES } from '../../core/budgets.ts';
import { RelationError, RetryableError, StorageError, UniqueError } from '../errors.ts';
import { ConflictError } from './errors.ts';
import { createSharedUnits } from './shared-units.ts';
import type { Done, Unit, UnitOptions, Writer, WriterRunOptions } from './writer.ts';

/** Runs units of work on several connections, and runs them again if they conflict with another transaction. */
export interface Units {
  /** @throws StorageError; what the unit throws; ConflictError if every run conflicted until the time limit */
  run<T>(unit: Unit<T>, terms: UnitOptions): Promise<Done<T>>;
  /** Rejects new units, and waits for the existing ones. */
  drain(): Promise<void>;
}

export function createUnits(writers: readonly Writer[]): Units {
  const free = [...writers];
  /** The functions that continue units which wait for a connection. */
  const waiting: ((writer: Writer) => void)[] = [];
  let closed = false;
  let open = 0;
  let drained: (() => void) | undefined;
  /**
   * Resolves when the latest unit that had a conflict has ended. Such units run again one after the other; otherwise
   * they would conflict with each other again.
   */
  let turn: Promise<unknown> = Promise.resolve();

  async function attempt<T>(
    unit: Unit<T>,
    terms: UnitOptions & Pick<WriterRunOptions, 'shared'>,
    runs: number,
  ): Promise<Done<T>> {
    const writer = free.pop() ?? (await new Promise<Writer>((resolve) => waiting.push(resolve)));
    try {
      return await writer.run(unit, { ...terms, again: runs > 1, alone: runs >= POSTGRES.aloneFromRun });
    } finally {
      const next = waiting.shift();
      if (next) next(writer);
      else free.push(writer);
    }
  }

  async function again<T>(unit: Unit<T>, terms: UnitOptions): Promise<Done<T>> {
    const until = performance.now() + POSTGRES.rerunMs;
    for (let runs = 2; ; runs++) {
      if (runs > 2)
        await pause(Math.random() * Math.min(POSTGRES.rerunPauseMs * 2 ** (runs - 3), POSTGRES.aloneWaitMs));
      try {
        return await attempt(unit, terms, runs);
      } catch (error) {
        if (!isConflict(error, runs) || performance.now() >= until) throw error;
      }
    }
  }

  async function alone<T>(unit: Unit<T>, terms: UnitOptions): Promise<Done<T>> {
    try {
      return await attempt(unit, terms, 1);
    } catch (error) {
      if (!isContended(error)) throw error;
      const rerun = turn.then(() => again(unit, terms));
      turn = rerun.catch(() => {});
      return await rerun;
    }
  }

  const shared = createSharedUnits(
    (unit) => alone(unit, { isolated: false }),
    (unit) => attempt(unit, { isolated: false, shared: true }, 1),
  );

  return {
    async run(unit, terms) {
      if (closed) throw new StorageError('STORE_CLOSED', 'the store is closed');
      open++;
      try {
        return await (terms.isolated ? alone(unit, terms) : shared(unit));
      } finally {
        open--;
        if (open === 0) drained?.();
      }
    },
    async drain() {
      closed = true;
      if (open === 0) return;
      await new Promise<void>((resolve) => {
        drained = resolve;
      });
    },
  };
}

/**
 * Whether the first run of a unit may have failed because of another transaction. A unit that checks for a row before
 * inserting it does not see the uncommitted row of another transaction; the unique index then rejects its own row. A
 * second run sees the other row.
 */
function isContended(error: unknown): boolean {
  return error instanceof ConflictError || error instanceof UniqueError || error instanceof RelationError;
}

/**
 * Whether to run the unit again: after a conflict, or if the unit had to run alone and the table lock that excludes
 * other units was not free in time.
 */
function isConflict(error: unknown, runs: number): boolean {
  if (error instanceof ConflictError) return true;
  return error instanceof RetryableError && error.code === LOCK_NOT_AVAILABLE && runs >= POSTGRES.aloneFromRun;
}

/** SQLSTATE lock_not_available. */
const LOCK_NOT_AVAILABLE = '55P03';
