import type { AccountSummaryRow, EnvironmentId, ReadRepositories } from '../../db/store.ts';

/** Fields that are undefined match every account. */
export interface UserFilters {
  organizationId?: string | undefined;
  userId?: string | undefined;
  identifier?: string | undefined;
}

const PAGE = 100;

/** Reads the accounts of a user in batches, newest first. The caller decides how many it reads. */
export async function* accountsOfUser(
  read: Pick<ReadRepositories, 'accounts'>,
  environmentId: EnvironmentId,
  { organizationId, userId, identifier }: UserFilters,
): AsyncGenerator<readonly AccountSummaryRow[]> {
  const filters = {
    ...(organizationId !== undefined && { organizationId }),
    ...(userId !== undefined && { userId }),
    ...(identifier !== undefined && { identifier }),
  };
  for (let after: string | undefined; ; ) {
    const { rows, hasNext } = await read.accounts.list(environmentId, filters, { size: PAGE, after });
    yield rows;
    after = rows.at(-1)?.id;
    if (!hasNext || after === undefined) return;
  }
}
