import type { AfterCommit } from '../after-commit.ts';
import type { Ending } from '../ending.ts';
import type { StorageHealth } from '../storage-health.ts';
import type { Checkpointer } from './checkpointer.ts';
import { syncHasFailed } from './errors.ts';
import type { TransactionControl } from './group-commit.ts';
import type { HighWaterMark } from './high-water-mark.ts';
import type { Client } from './open.ts';
import type { PlanChanges } from './plan-changes.ts';
import type { ReadTurn } from './read-turn.ts';

export interface ControlDeps {
  turn: ReadTurn;
  changes: PlanChanges;
  ending: Ending;
  afterCommit: AfterCommit;
  checkpointer: Checkpointer;
  mark: HighWaterMark;
  health: StorageHealth;
  /** Records that a sync has failed, for the next start. */
  distrust(): void;
}

/** Controls the transactions of the writing connection. */
export function createTransactionControl(
  writer: Client,
  { turn, changes, ending, afterCommit, checkpointer, mark, health, distrust }: ControlDeps,
): TransactionControl {
  const statement = (text: string) => writer.prepare(text);
  const [begin, commit, rollback] = [statement('begin immediate'), statement('commit'), statement('rollback')];
  const savepoint = statement('savepoint unit');
  const [release, undo] = [statement('release unit'), statement('rollback to unit')];
  return {
    begin() {
      turn.end();
      begin.run();
      changes.begun();
      ending.begin();
    },
    async commit() {
      const writing = ending.write();
      if (writing) await writing;
      // A unit that took several turns may commit in the middle of a turn whose reads share a transaction. The shared
      // transaction is ended, so that later reads of the turn see the commit.
      turn.end();
      changes.committing();
      checkpointer.around(() => commit.run());
      afterCommit.run();
    },
    sync: mark.sync,
    rollback: () => void rollback.run(),
    savepoint: () => void savepoint.run(),
    release() {
      release.run();
      ending.keep();
    },
    rollbackToSavepoint() {
      undo.run();
      ending.undo();
    },
    isOpen: () => writer.inTransaction,
    failed(error) {
      if (syncHasFailed(error)) distrust();
      health.failed(error);
    },
  };
}
