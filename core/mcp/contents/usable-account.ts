import type { AccountRow, ConnectionRow } from '../../../db/store.ts';
import { findAccount } from '../../accounts/find.ts';
import { needsCredentials } from '../../authorization/roles.ts';
import { ApiError } from '../../errors.ts';
import type { Cause } from '../../events/events.ts';
import type { CallDeps } from '../call-tool.ts';
import { accountFor, accountKeyOf } from '../connect-account.ts';
import type { McpSession } from '../session.ts';

/**
 * Returns the user's account of a connection, in any status. A missing account is created if the connection's accounts
 * need no credentials and the session may create accounts.
 *
 * @returns undefined if the account is missing and is not created
 * @throws ApiError as `findAccount`, except NOT_FOUND, and as `createAccount`
 */
export async function usableAccount(
  deps: CallDeps,
  session: McpSession,
  connection: ConnectionRow,
  cause: Cause,
): Promise<AccountRow | undefined> {
  const selector = { by: 'key' as const, key: accountKeyOf(session, connection) };
  try {
    return await findAccount(deps.store.read, session.environment.id, selector);
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'NOT_FOUND') throw error;
  }
  if (needsCredentials(connection.type)) return undefined;
  return (await deps.store.write((tx) => accountFor(tx, deps, session, connection, cause)))?.account;
}
