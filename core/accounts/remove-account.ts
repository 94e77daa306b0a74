import type { AccountRow, EnvironmentId, Transaction } from '../../db/store.ts';
import type { Cause } from '../events/events.ts';
import { UNBOUND } from './binding.ts';
import { NO_CREDENTIALS } from './credentials.ts';
import { withoutObtained } from './details.ts';
import { orderAccountRevocation, type RevocationDeps } from './revocation-order.ts';

/**
 * The columns of an account whose credentials were removed. The new generation makes a refresh that is still running
 * discard its result.
 */
export function withoutCredentials(account: Pick<AccountRow, 'credentialGeneration'>) {
  return {
    ...NO_CREDENTIALS,
    binding: UNBOUND,
    publicDetails: {},
    tokenExpiresAt: null,
    credentialGeneration: account.credentialGeneration + 1,
  };
}

/**
 * Removes the credentials of an account, orders their revocation at the provider (a background job), and ends the open
 * links of the account. The account stays, so that its user can authorize it again.
 *
 * @param reason a sentence for users
 */
export async function disconnectAccount(
  tx: Transaction,
  deps: RevocationDeps,
  account: AccountRow,
  reason: string,
  cause: Cause,
): Promise<AccountRow> {
  const { environmentId, id, version, status: previousStatus } = account;
  const at = deps.now();
  await orderAccountRevocation(tx, deps, account);
  const changes = {
    ...withoutCredentials(account),
    status: 'DISCONNECTED' as const,
    statusReason: reason,
    updatedAt: at,
  };
  await tx.accounts.update(environmentId, id, version, changes);
  await tx.authRequests.close(environmentId, id, at);
  const disconnected = (await tx.accounts.get(environmentId, id)) as AccountRow;
  await deps.events.emit(tx, cause, {
    type: 'connected_account.disconnected',
    subject: id,
    data: async (show) => ({
      connected_account: await show.account(disconnected),
      previous_status: previousStatus,
    }),
  });
  return disconnected;
}

/**
 * Permanently deletes an account, orders the revocation of its credentials at the provider, and ends its open links.
 */
export async function deleteAccount(
  tx: Transaction,
  deps: RevocationDeps,
  account: AccountRow,
  cause: Cause,
): Promise<void> {
  const { environmentId, id } = account;
  const at = deps.now();
  await orderAccountRevocation(tx, deps, account);
  await tx.authRequests.close(environmentId, id, at);
  await tx.accounts.remove(environmentId, id, at);
  await deps.events.emit(tx, cause, {
    type: 'connected_account.deleted',
    subject: id,
    data: async (show) => ({ connected_account: await show.account(account) }),
  });
}

const PAGE = 500;

/**
 * Removes the tokens that Valetkey obtained for the accounts of a connection, because the settings of the connection
 * change, and orders their revocation. The revocations use the client that the connection has at the time of this call:
 * call it before the client is replaced, but after a new secret of the same client is stored.
 */
export async function revokeObtained(
  tx: Transaction,
  deps: RevocationDeps,
  environmentId: EnvironmentId,
  connectionId: string,
): Promise<void> {
  let last: AccountRow | undefined;
  for (let rows: AccountRow[] | undefined; rows === undefined || rows.length === PAGE; ) {
    rows = await tx.accounts.listObtained(environmentId, connectionId, { afterSeq: last?.seq ?? 0, limit: PAGE });
    for (const account of rows) await orderAccountRevocation(tx, deps, account);
    last = rows.at(-1) ?? last;
  }
  // All accounts of a connection have its authorization type.
  if (last) await tx.accounts.forgetObtained(environmentId, connectionId, withoutObtained(last.authorizationType));
}
