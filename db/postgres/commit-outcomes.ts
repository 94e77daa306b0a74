import { setTimeout as pause } from 'node:timers/promises';
import { POSTGRES } from '../../core/budgets.ts';
import { StorageError } from '../errors.ts';
import { ConflictError } from './errors.ts';
import type { Readers } from './readers.ts';

/** Finds out whether a transaction was committed when its connection was lost during the commit. */
export interface CommitOutcomes {
  /**
   * @param xid the number of the transaction
   * @param cause the error of the lost connection
   * @throws ConflictError if the transaction was rolled back; StorageError `OUTCOME_UNKNOWN` if the server cannot tell
   */
  requireCommitted(xid: string, cause: StorageError): Promise<void>;
}

export function createCommitOutcomes(readers: Pick<Readers, 'query'>): CommitOutcomes {
  /** Returns null if the server does not know the transaction, and undefined if the server could not be asked. */
  async function statusOf(xid: string): Promise<unknown> {
    try {
      const { rows } = await readers.query({ text: 'select pg_xact_status($1::xid8)', values: [xid] });
      return rows[0]?.[0];
    } catch {
      return undefined;
    }
  }

  return {
    async requireCommitted(xid, cause) {
      const until = performance.now() + POSTGRES.outcomeMs;
      do {
        const status = await statusOf(xid);
        if (status === 'committed') return;
        if (status === 'aborted') throw new ConflictError('CONNECTION_LOST', 'the connection was lost', { cause });
        if (status === null) break;
        await pause(POSTGRES.outcomePauseMs);
      } while (performance.now() < until);
      throw new StorageError('OUTCOME_UNKNOWN', 'it is not known whether a transaction was committed', { cause });
    },
  };
}
