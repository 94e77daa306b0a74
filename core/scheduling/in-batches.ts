import type { Transaction } from '../../db/store.ts';
import { STORAGE } from '../budgets.ts';

/**
 * Processes a list in batches, within a large transaction or outside of one, so that other work can run on the event
 * loop between two batches.
 *
 * @param work receives at most `size` elements at a time, in order
 * @param size the maximum number of elements in a batch; choose it so that a batch takes about 5 ms
 */
export async function inBatches<T>(
  tx: Pick<Transaction, 'yieldToEventLoop'>,
  all: readonly T[],
  work: (batch: readonly T[]) => unknown,
  size: number = STORAGE.rowsPerTurn,
): Promise<void> {
  for (let from = 0; from < all.length; from += size) {
    if (from > 0) await tx.yieldToEventLoop();
    await work(all.slice(from, from + size));
  }
}
