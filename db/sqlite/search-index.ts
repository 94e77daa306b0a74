import { type Db, once } from '../database.ts';
import type { Ending } from '../ending.ts';
import { accountsUnindexed } from '../schema.ts';

export interface SearchIndex {
  /** Tells that accounts were inserted: they are put into the index with the end of the transaction. */
  add(): void;
  ending: Ending;
}

/**
 * Puts new accounts into the substring index, all those of a transaction at once. Which ones they are stands in a table, so that
 * savepoints and crashes keep it true; here lies only whether to look.
 */
export function createSearchIndex(db: Db): SearchIndex {
  // Its trigger does the rest.
  const indexAll = once(() => db.delete(accountsUnindexed).prepare());
  let waiting = false;
  return {
    add() {
      waiting = true;
    },
    ending: {
      begin() {
        waiting = false;
      },
      keep() {},
      // Others of the transaction may still wait, and where none does the table is empty.
      undo() {},
      write() {
        if (waiting) indexAll().run();
      },
    },
  };
}
