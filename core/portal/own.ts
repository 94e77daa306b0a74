import type { AccountRow, AccountSummaryRow, EnvironmentId, OAuthGrantRow, ReadRepositories } from '../../db/store.ts';
import { PORTAL } from '../budgets.ts';
import type { PortalUser } from './sessions.ts';

type Owner = Pick<PortalUser, 'organizationId' | 'userId'>;

/**
 * Whether an object belongs to the user of a session: its organization and its user are exactly those of the session. A
 * user ID may exist in several organizations.
 */
function isOwn(user: Owner, { organizationId, userId }: Owner): boolean {
  return organizationId === user.organizationId && userId === user.userId;
}

/**
 * Returns the filters for the rows of an owner. They omit an empty organization or user and then match other owners
 * too, so callers must also check each row with `isOwn`.
 */
function filtersOf({ organizationId, userId }: Owner) {
  return { ...(userId && { userId }), ...(organizationId && { organizationId }) };
}

/**
 * Returns the newest accounts of a user, newest first and at most `PORTAL.rows`. At most `PORTAL.read` accounts that
 * match the filters are read, including those of other owners.
 */
export async function ownAccounts(
  read: Pick<ReadRepositories, 'accounts'>,
  environmentId: EnvironmentId,
  user: Owner,
  more: { connectionId?: string; identifier?: string } = {},
): Promise<AccountSummaryRow[]> {
  const filters = { ...filtersOf(user), ...more };
  const own: AccountSummaryRow[] = [];
  let after: string | undefined;
  for (let count = 0; count < PORTAL.read && own.length < PORTAL.rows; count += PORTAL.rows) {
    const page = await read.accounts.list(environmentId, filters, { size: PORTAL.rows, after });
    own.push(...page.rows.filter((row) => isOwn(user, row)));
    if (!page.hasNext) break;
    after = page.rows.at(-1)?.id;
  }
  return own.slice(0, PORTAL.rows);
}

/** @returns undefined if the account does not exist or belongs to another user */
export async function ownAccount(
  read: Pick<ReadRepositories, 'accounts'>,
  environmentId: EnvironmentId,
  user: Owner,
  id: string,
): Promise<AccountRow | undefined> {
  const account = await read.accounts.get(environmentId, id);
  return account && isOwn(user, account) ? account : undefined;
}

/**
 * Returns the newest unexpired grants of a user to MCP clients, at most `PORTAL.rows`. At most `PORTAL.read` grants
 * that match the filters are read, including those of other owners.
 */
export async function ownGrants(
  read: Pick<ReadRepositories, 'oauthGrants'>,
  environmentId: EnvironmentId,
  user: Owner,
  now: number,
): Promise<OAuthGrantRow[]> {
  const rows = await read.oauthGrants.some(environmentId, filtersOf(user), PORTAL.read);
  return rows.filter((row) => isOwn(user, row) && row.expiresAt > now).slice(0, PORTAL.rows);
}

/** @returns undefined if the grant does not exist or belongs to another user */
export async function ownGrant(
  read: Pick<ReadRepositories, 'oauthGrants'>,
  environmentId: EnvironmentId,
  user: Owner,
  id: string,
): Promise<OAuthGrantRow | undefined> {
  const grant = await read.oauthGrants.get(environmentId, id);
  return grant && isOwn(user, grant) ? grant : undefined;
}
