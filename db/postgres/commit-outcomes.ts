import { setTimeout as pause } from 'node:timers/promises';
import { POSTGRES } from '../../core/budgets.ts';
import { StorageError } from '../errors.ts';
import { ConflictError } from './errors.ts';
import type { Readers } from './readers.ts';

export interface NumberedTransaction {
  xid: string;
  epoch: string;
}

const STATUS = 'select pg_xact_status($1::xid8), (select life from server_lives)';

/** Finds out, after a connection was lost during a commit, whether the transaction was committed. */
export interface CommitOutcomes {
  /**
   * @param transaction its number, and the epoch of the server (the time between two of its crashes) in which it ran
   * @param cause the error of the lost connection
   * @throws ConflictError if the transaction was rolled back; StorageError `OUTCOME_UNKNOWN` if the server does not
   * know the transaction, or does not tell its status in time
   */
  requireCommitted(transaction: NumberedTransaction, cause: StorageError): Promise<void>;
}

export function createCommitOutcomes(readers: Pick<Readers, 'query'>): CommitOutcomes {
  /** Returns null if the server does not know the transaction, and undefined if the server could not be asked. */
  async function statusOf({ xid, epoch }: NumberedTransaction): Promise<unknown> {
    try {
      const {
        rows: [[status, current] = []],
      } = await readers.query({ text: STATUS, values: [xid] });
      // A crash can lose this transaction, and the server may then give its number to another one. So in another epoch,
      // `committed` may be the status of the other transaction. Any other status means that this one was not committed.
      return status === 'committed' && current !== epoch ? null : status;
    } catch {
      return undefined;
    }
  }

  return {
    async requireCommitted(transaction, cause) {
      const until = performance.now() + POSTGRES.outcomeMs;
      do {
        const status = await statusOf(transaction);
        if (status === 'committed') return;
        if (status === 'aborted')
          throw new ConflictError('CONNECTION_LOST', 'the connection was lost before the commit', { cause });
        if (status === null) break;
        await pause(POSTGRES.outcomePauseMs);
      } while (performance.now() < until);
      throw new StorageError(
        'OUTCOME_UNKNOWN',
        'the connection was lost during a commit, and it is not known whether the change was stored: check before you repeat it',
        { cause },
      );
    },
  };
}
