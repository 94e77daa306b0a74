import type { Store, Transaction } from '../../db/store.ts';

type Unit = (tx: Transaction) => Promise<unknown>;

/**
 * A store that runs every unit twice: the first run is undone, as an engine does that runs a unit again after a conflict. A unit with an
 * effect beside its transaction has this effect twice, which its test notices.
 */
export function rehearsed(store: Store): Store {
  const rehearse = (unit: Unit) => {
    const run = store.write(async (tx) => {
      await unit(tx);
      throw new Error('the first run is undone');
    });
    // The second run, which the caller waits for, fails as the first one did.
    run.catch(() => {});
  };
  return {
    ...store,
    write(unit) {
      rehearse(unit);
      return store.write(unit);
    },
    commit(unit) {
      rehearse(unit);
      return store.commit(unit);
    },
    note(unit) {
      rehearse(unit);
      return store.note(unit);
    },
  };
}
