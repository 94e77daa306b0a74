import { integer, table, text } from '../drizzle.ts';
import type { Ending } from '../ending.ts';
import type { Statements } from '../statements.ts';

/** The virtual table of the substring index; its rowid is the account's seq. */
export const accountsSearch = table('accounts_search', {
  rowid: integer().notNull(),
  searchText: text('search_text').notNull(),
});

/** The accounts that the index lacks. It is empty but within a transaction. */
export const accountsUnindexed = table('accounts_unindexed', {
  seq: integer().primaryKey().notNull(),
});

export interface SearchIndex {
  /** Tells that accounts were inserted: they are put into the index with the end of the transaction. */
  add(): void;
  ending: Ending;
}

/**
 * Puts new accounts into the substring index, all those of a transaction in one statement. Which ones they are is in a table, so that
 * savepoints and crashes keep it true; the process only remembers whether to look.
 */
export function createSearchIndex({ db, once }: Statements): SearchIndex {
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
      // Other units of the transaction may have inserted some; if none has, the table is empty.
      undo() {},
      async write() {
        if (waiting) await indexAll().run();
      },
    },
  };
}
