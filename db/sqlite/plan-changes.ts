import type { Client } from './open.ts';

/** The changes that make the plan of a call outdated: those that `createPlanCheck` compares by version or hash. */
const PLANNED = {
  accounts: ['delete', 'update of version'],
  connections: ['delete', 'update of version'],
  custom_providers: ['delete', 'update of version'],
  environment_tools: ['delete', 'update of content_hash, flagged'],
};

export interface PlanChanges {
  /**
   * Returns a number that changes when a row that calls are planned with may have changed. Call it before reading the
   * rows: if it returns the same number within a later transaction, the rows have not changed.
   */
  count(): number;
  /** Called when a transaction has begun, in which no other process can write. */
  begun(): void;
  /** Called before the commit of a transaction, in the same turn of the event loop. */
  committing(): void;
}

/**
 * Counts changes to the rows that calls are planned with, so that a planned call need not read their versions again. A
 * change is counted when its statement runs and again at its commit, because reads in between see the old rows. Commits
 * of other processes are counted at the beginning of the next transaction.
 *
 * @param writer the connection of all writes; it gets temporary triggers
 */
export function createPlanChanges(writer: Client): PlanChanges {
  let changes = 0;
  let inTransaction = false;
  writer.function('plan_changed', () => {
    changes++;
    inTransaction = true;
    return null;
  });
  for (const [table, events] of Object.entries(PLANNED)) {
    for (const [place, event] of events.entries()) {
      writer.exec(
        `create temp trigger ${table}_planned_${place} after ${event} on main.${table} begin select plan_changed(); end`,
      );
    }
  }
  const readVersion = writer.prepare<[], number>('pragma data_version').pluck();
  let version = readVersion.get();
  return {
    count: () => changes,
    begun() {
      inTransaction = false;
      const current = readVersion.get();
      if (current !== version) changes++;
      version = current;
    },
    committing() {
      if (inTransaction) changes++;
    },
  };
}
