import type { AccountRow, ReadRepositories } from '../../db/store.ts';

/**
 * Whether to revoke tokens could also end the grant that a live account stands on: many providers end all of a person's grant to
 * a client when one of its tokens is revoked. What is not known to be somebody else's is taken for the same person's, because an
 * ACTIVE account has to keep working whatever becomes of another flow (threat L11); such tokens are wiped here and die by themselves.
 *
 * @param account that the tokens were obtained for, as it is
 * @param subject of the tokens in question
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
