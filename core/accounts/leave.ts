import type { AccountRow, Repositories } from '../../db/store.ts';
import { NO_CREDENTIALS } from './credentials.ts';

/** The columns of an account whose credentials are gone. A new generation keeps a late writer out. */
export function withoutCredentials(account: Pick<AccountRow, 'credentialGeneration'>) {
  return {
    ...NO_CREDENTIALS,
    publicDetails: {},
    tokenExpiresAt: null,
    credentialGeneration: account.credentialGeneration + 1,
  };
}

/**
 * Takes the credentials of an account away and keeps the account, so that it can be authorized again.
 *
 * @param reason a sentence for people
 * @param at milliseconds UTC
 */
export async function disconnectAccount(
  tx: Repositories,
  account: AccountRow,
  reason: string,
  at: number,
): Promise<AccountRow> {
  const { environmentId, id, version } = account;
  const changes = {
    ...withoutCredentials(account),
    status: 'DISCONNECTED' as const,
    statusReason: reason,
    updatedAt: at,
  };
  await tx.accounts.update(environmentId, id, version, changes);
  await tx.authRequests.close(environmentId, id, at);
  return (await tx.accounts.get(environmentId, id)) as AccountRow;
}
