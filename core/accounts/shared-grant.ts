import type { AccountRow, ReadRepositories } from '../../db/store.ts';

/**
 * Whether revoking tokens could also end the grant of an active account: many providers revoke the user's whole grant
 * to a client when one of its tokens is revoked. If the account is ACTIVE and its user or the user of the tokens is
 * unknown, they are assumed to be the same, so that the account keeps working (threat L11). If the result is true, the
 * caller must only delete the tokens from this server; they expire at the provider later.
 *
 * @param account the account that the tokens were obtained for, as it is now
 * @param subject the provider's id of the user whose tokens these are
 */
export async function mayBeShared(
  read: Pick<ReadRepositories, 'accounts'>,
  { environmentId, connectionId }: Pick<AccountRow, 'environmentId' | 'connectionId'>,
  account: Pick<AccountRow, 'status' | 'providerSubject'> | undefined,
  subject: string | null,
): Promise<boolean> {
  const isUnknown = subject === null || account?.providerSubject === null;
  if (account?.status === 'ACTIVE' && isUnknown) return true;
  return subject !== null && read.accounts.hasActiveSubject(environmentId, connectionId, subject);
}
