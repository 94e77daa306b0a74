import type { AccountRow, Transaction } from '../../db/store.ts';
import type { Cause, Events } from '../events/events.ts';

/**
 * Emits the event that an account was taken out of use, because its credential must not be used as the account is
 * configured now.
 *
 * @param reason a sentence for users
 */
export function emitParked(
  tx: Transaction,
  events: Events,
  { id }: Pick<AccountRow, 'id'>,
  reason: string,
  cause: Cause,
): Promise<void> {
  return events.emit(tx, cause, {
    type: 'connected_account.parked',
    subject: id,
    details: { reason },
    data: async (show) => ({ connected_account: await show.account(id) }),
  });
}
