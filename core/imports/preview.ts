import type { Store, Transaction } from '../../db/store.ts';

/** Carries the result out of a transaction that is rolled back. */
class RolledBack<T> extends Error {
  readonly result: T;

  constructor(result: T) {
    super('A preview is rolled back');
    this.result = result;
  }
}

/**
 * Runs a unit of work and rolls it back, so that a preview has exactly the same result and errors as the real
 * operation.
 */
export async function preview<T>(store: Pick<Store, 'write'>, unit: (tx: Transaction) => Promise<T>): Promise<T> {
  try {
    await store.write(async (tx) => {
      throw new RolledBack(await unit(tx));
    });
  } catch (error) {
    if (error instanceof RolledBack) return error.result as T;
    throw error;
  }
  throw new Error('A preview cannot be committed');
}
