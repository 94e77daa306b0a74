import type { Store, Transaction } from '../../db/store.ts';

/** Carries a result out of a transaction that is taken back. */
class TakenBack<T> extends Error {
  readonly result: T;

  constructor(result: T) {
    super('A preview is rolled back');
    this.result = result;
  }
}

/** Does what a unit does and takes it back: a preview that cannot differ from the deed, errors included. */
export async function preview<T>(store: Pick<Store, 'write'>, unit: (tx: Transaction) => Promise<T>): Promise<T> {
  try {
    await store.write(async (tx) => {
      throw new TakenBack(await unit(tx));
    });
  } catch (error) {
    if (error instanceof TakenBack) return error.result as T;
    throw error;
  }
  throw new Error('A preview cannot be committed');
}
