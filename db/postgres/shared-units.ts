import { POSTGRES } from '../../core/budgets.ts';
import { RetryableError, StorageError } from '../errors.ts';
import type { Done, Unit } from './writer.ts';

/** Runs units that are not isolated (see `WriteOptions`), several in one transaction. */
export type SharedUnits = <T>(unit: Unit<T>) => Promise<Done<T>>;

interface Entry {
  unit: Unit<unknown>;
  resolve(done: Done<never>): void;
  reject(reason: unknown): void;
}

/**
 * Collects units until the next shared transaction begins; at most `POSTGRES.sharedTransactions` run at a time. If a
 * unit fails or waits too long for a lock, the shared transaction is rolled back, and each of its units runs again in
 * its own transaction. Units that arrive later do not wait for the units that run again. If the shared transaction may
 * have been committed, its units are rejected and do not run again.
 *
 * @param run runs a unit in its own transaction, and again after conflicts
 * @param runOnce runs a unit once; a statement that must wait for a lock fails after a short time
 */
export function createSharedUnits(run: SharedUnits, runOnce: SharedUnits): SharedUnits {
  const waiting: Entry[] = [];
  let open = 0;
  let scheduled = false;

  function schedule(): void {
    if (scheduled || waiting.length === 0 || open >= POSTGRES.sharedTransactions) return;
    scheduled = true;
    // Waits until the end of the event-loop turn, because requests that arrived together start units in the same turn.
    setImmediate(() => {
      scheduled = false;
      open++;
      void runAll(waiting.splice(0, POSTGRES.sharedUnits)).finally(() => {
        open--;
        schedule();
      });
      schedule();
    });
  }

  async function runAll(entries: readonly Entry[]): Promise<void> {
    try {
      const { value: values, transaction } = await runOnce((tx) =>
        Promise.all(entries.map(async ({ unit }) => await unit(tx))),
      );
      for (const [place, { resolve }] of entries.entries()) resolve({ value: values[place] as never, transaction });
    } catch (error) {
      for (const { unit, resolve, reject } of entries) {
        if (mayBeCommitted(error)) reject(error);
        else void run(unit as Unit<never>).then(resolve, reject);
      }
    }
  }

  return <T>(unit: Unit<T>) =>
    new Promise<Done<T>>((resolve, reject) => {
      waiting.push({ unit, resolve: resolve as Entry['resolve'], reject });
      schedule();
    });
}

/** Whether the failed transaction may have been committed, or another one would fail in the same way. */
function mayBeCommitted(error: unknown): boolean {
  return error instanceof StorageError && !(error instanceof RetryableError);
}
