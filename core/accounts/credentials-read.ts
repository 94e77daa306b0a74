import type { AccountRow, Transaction } from '../../db/store.ts';
import type { Cause, Events } from '../events/events.ts';

/** Records that an API client received the credentials of an account. */
export function credentialsRead(
  tx: Transaction,
  { events }: { events: Events },
  account: AccountRow,
  cause: Cause,
): Promise<void> {
  return events.emit(tx, cause, {
    type: 'connected_account.credentials_read',
    subject: account.id,
    data: async (show) => ({ connected_account: await show.account(account) }),
  });
}
