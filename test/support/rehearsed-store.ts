import type { Store, Transaction, WriteOptions } from '../../db/store.ts';

type Unit = (tx: Transaction) => Promise<unknown>;

/**
 * A store that runs every unit of work twice and rolls back the first run, as an engine does after a conflict. A unit
 * with an effect outside of the transaction has this effect twice, so that a test of it fails.
 */
export function rehearsed(store: Store): Store {
  const rehearse = (unit: Unit, terms?: WriteOptions) => {
    const run = store.write(async (tx) => {
      await unit(tx);
      throw new Error('the first run is undone');
    }, terms);
    // The caller waits for the second run, which fails in the same way as the first one.
    run.catch(() => {});
  };
  return {
    ...store,
    write(unit, terms) {
      rehearse(unit, terms);
      return store.write(unit, terms);
    },
    commit(unit) {
      rehearse(unit);
      return store.commit(unit);
    },
    note(unit) {
      rehearse(unit, { isolated: false });
      return store.note(unit);
    },
  };
}
