import { integer, table, text } from '../drizzle.ts';
import type { Ending } from '../ending.ts';
import type { Statements } from '../statements.ts';

/** The virtual table of the substring index; its rowid is the account's seq. */
export const accountsSearch = table('accounts_search', {
  rowid: integer().notNull(),
  searchText: text('search_text').notNull(),
});

/** The accounts that are not in the index yet. The table is empty outside of transactions. */
export const accountsUnindexed = table('accounts_unindexed', {
  seq: integer().primaryKey().notNull(),
});

export interface SearchIndex {
  /** Call it after accounts were inserted; they are indexed at the end of the transaction. */
  add(): void;
  ending: Ending;
}

/**
 * Adds new accounts to the substring index, all accounts of a transaction in one statement. The table
 * `accounts_unindexed` lists them, so that the list stays correct after rolled back savepoints and crashes. The process
 * only remembers whether there are any.
 */
export function createSearchIndex({ db, once }: Statements): SearchIndex {
  // A trigger on this table adds the accounts to the index.
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
      // `waiting` is kept, because other units of the transaction may have inserted accounts. If none has, the table is
      // empty, and `indexAll` does nothing.
      undo() {},
      write: () =>
        waiting
          ? indexAll()
              .run()
              .then(() => {})
          : undefined,
    },
  };
}
