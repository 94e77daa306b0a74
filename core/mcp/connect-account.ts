import type { AccountRow, ConnectionRow, EnvironmentRow, Transaction } from '../../db/store.ts';
import { createAccount } from '../accounts/create-account.ts';
import { findAccount } from '../accounts/find.ts';
import type { CreatedLink, CreateLinkDeps } from '../accounts/links/create-link.ts';
import { createLink } from '../accounts/links/create-link.ts';
import type { AccountKey } from '../accounts/selector.ts';
import { needsCredentials } from '../authorization/roles.ts';
import { ApiError } from '../errors.ts';
import type { Cause } from '../events/events.ts';
import type { McpSession } from './session.ts';

/** Returns the key by which the account of a session's user at a connection is found. */
export function accountKeyOf({ grant }: McpSession, connection: ConnectionRow): AccountKey {
  return { connector: connection.keyId, ...grant.user };
}

/**
 * Returns the user's account of a connection. A missing account is created if the connection's accounts need no
 * credentials and the session may create accounts.
 *
 * @returns undefined if the account is missing and is not created; `isNew` is true if this transaction created it
 * @throws ApiError as `findAccount`, except NOT_FOUND, and as `createAccount`
 */
export async function accountFor(
  tx: Transaction,
  deps: CreateLinkDeps,
  session: McpSession,
  connection: ConnectionRow,
  cause: Cause,
): Promise<{ account: AccountRow; isNew: boolean } | undefined> {
  const key = accountKeyOf(session, connection);
  try {
    return { account: await findAccount(tx, session.environment.id, { by: 'key', key }), isNew: false };
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'NOT_FOUND') throw error;
  }
  if (needsCredentials(connection.type) || !session.grant.mayConnect) return undefined;
  const { account } = await createAccount(tx, deps, session.environment.id, key, {}, cause);
  return { account, isNew: true };
}

/**
 * Creates the link by which the user of a session connects an account. It is the same as a link of the REST API, so the
 * user is verified in the same way (threat M7). The link's URL contains no data about the user, and grants no access by
 * itself.
 *
 * @throws ApiError ACCOUNT_NOT_ACTIVE if the token does not allow links; otherwise as `createLink`
 */
export async function linkFor(
  tx: Transaction,
  deps: CreateLinkDeps,
  { environment, grant }: McpSession,
  connection: ConnectionRow,
  cause: Cause,
): Promise<CreatedLink> {
  if (!grant.mayConnect) {
    throw new ApiError(
      'ACCOUNT_NOT_ACTIVE',
      'The token of this session does not allow links. The application must create a link for the user.',
    );
  }
  const { organizationId, userId, identifier } = grant.user;
  const name = { connector: connection.keyId, identifier, organization_id: organizationId, user_id: userId };
  const current = (await tx.environments.get(environment.id)) as EnvironmentRow;
  const request = { ...name, ...(grant.userVerifyUrl !== null && { user_verify_url: grant.userVerifyUrl }) };
  return createLink(tx, deps, current, request, cause);
}
