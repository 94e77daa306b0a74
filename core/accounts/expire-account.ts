import type { AccountRow, Transaction } from '../../db/store.ts';
import type { Cause, Events } from '../events/events.ts';

/**
 * Sets the status of an account to EXPIRED, so that it cannot be used until it is authorized again, and emits
 * `connected_account.expired`. If the account has been changed since it was read (another version), nothing happens.
 *
 * @returns the account as it is now; undefined if it was deleted
 */
export async function expireAccount(
  tx: Transaction,
  events: Events,
  { environmentId, id, version }: AccountRow,
  reason: string,
  at: number,
  cause: Cause,
): Promise<AccountRow | undefined> {
  const expired = { status: 'EXPIRED', statusReason: reason, updatedAt: at } as const;
  const changed = await tx.accounts.update(environmentId, id, version, expired);
  if (changed) {
    await events.emit(tx, cause, {
      type: 'connected_account.expired',
      subject: id,
      details: { reason },
      data: async (show) => ({ connected_account: await show.account(id) }),
    });
  }
  return tx.accounts.get(environmentId, id);
}
