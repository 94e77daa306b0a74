import type { EnvironmentId, Transaction } from '../../db/store.ts';
import type { Vault } from '../vault/vault.ts';
import { sealPayload } from './payload.ts';

/** The properties of a job to add. */
export interface JobOrder {
  environmentId: EnvironmentId;
  kind: string;
  /** Jobs of one lane share a limited number of slots. A lane is, for example, one provider. */
  lane: string;
  /** The object that the job is about, usually an account. */
  subjectId: string | null;
  /** Milliseconds after which the job is not tried again. */
  giveUpAfterMs: number;
}

export interface JobQueue {
  /**
   * Adds a job in the transaction that causes it. It starts soon after the commit.
   *
   * @param payload the data that attempts need; it is encrypted, so it may contain secrets
   * @returns the id of the job
   */
  enqueue(tx: Transaction, order: JobOrder, payload: object): Promise<string>;
  /** Records a job that cannot be attempted, with a reason for users. */
  recordFailed(tx: Transaction, order: JobOrder, reason: string): Promise<string>;
  /** @param listener is called after each commit that added jobs; it replaces an earlier listener */
  onAdded(listener: () => void): void;
}

export interface JobQueueDeps {
  vault: Vault;
  /** Milliseconds UTC. */
  now(): number;
  newId(prefix: 'job'): string;
}

/** Creates the queue. It stores jobs in the transaction of the caller; the job engine runs them after the commit. */
export function createJobQueue({ vault, now, newId }: JobQueueDeps): JobQueue {
  let added = () => {};
  const rowOf = ({ kind, lane, subjectId, giveUpAfterMs }: JobOrder) => {
    const at = now();
    return { id: newId('job'), kind, lane, subjectId, giveUpAt: at + giveUpAfterMs, createdAt: at };
  };
  return {
    async enqueue(tx, order, payload) {
      const { environmentId } = order;
      const row = rowOf(order);
      const sealed = sealPayload(vault, environmentId, row.id, payload);
      await tx.jobs.insert(environmentId, { ...row, ...sealed, runAt: row.createdAt });
      tx.afterCommit(() => added());
      return row.id;
    },
    async recordFailed(tx, order, reason) {
      const row = rowOf(order);
      await tx.jobs.insertFailed(order.environmentId, { ...row, reason });
      return row.id;
    },
    onAdded(listener) {
      added = listener;
    },
  };
}
