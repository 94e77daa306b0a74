import { setTimeout as pause } from 'node:timers/promises';
import { POSTGRES } from '../../core/budgets.ts';
import { StorageError } from '../errors.ts';
import { ConflictError } from './errors.ts';
import type { Readers } from './readers.ts';

/** Finds out what became of transactions whose connection was lost while they were committed. */
export interface Outcomes {
  /**
   * @param xid the number of the transaction
   * @param cause what the connection was lost by
   * @throws ConflictError when the transaction was undone; StorageError `OUTCOME_UNKNOWN` when the server cannot tell
   */
  requireCommitted(xid: string, cause: StorageError): Promise<void>;
}

export function createOutcomes(readers: Pick<Readers, 'ask'>): Outcomes {
  /** Null when the server does not know. Undefined while it cannot be asked. */
  async function statusOf(xid: string): Promise<unknown> {
    try {
      const { rows } = await readers.ask({ text: 'select pg_xact_status($1::xid8)', values: [xid] });
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
