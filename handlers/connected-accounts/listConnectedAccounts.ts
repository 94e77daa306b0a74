import type { Accounts } from '../../core/capabilities/accounts.ts';
import { resolveConnector } from '../../core/connections/resolve.ts';
import { pageTokens, readPage, totalSize } from '../../core/paging.ts';
import { presentSummary } from '../../core/present/account.ts';
import type { EnvironmentId, ReadRepositories } from '../../db/store.ts';
import type { Handler } from '../../http/contract.ts';

export const listConnectedAccounts: Handler<'listConnectedAccounts', Accounts> = async (call, reply, accounts) => {
  const { page_size: size, page_token: token, ...filters } = call.query;
  const environmentId = call.environment.id;
  const scope = { environmentId, list: 'listConnectedAccounts', filters };
  const request = readPage(accounts.sealedTokens, scope, token, size);
  const page = await accounts.store.read.accounts.list(
    environmentId,
    {
      organizationId: filters.organization_id,
      userId: filters.user_id,
      connector: filters.connector && (await keyOf(accounts.store.read, environmentId, filters.connector)),
      provider: filters.provider,
      identifier: filters.identifier,
      status: filters.status,
      connectionId: filters.connection_id,
    },
    request,
  );
  return reply(200, {
    connected_accounts: page.rows.map((row) => presentSummary(row, accounts.usage.lastUsedAt(row))),
    ...pageTokens(accounts.sealedTokens, scope, page, accounts.now()),
    ...totalSize(page),
  });
};

/**
 * Returns the key of the connection that a connector names. A name without a connection is returned unchanged and
 * matches nothing.
 */
async function keyOf(read: ReadRepositories, environmentId: EnvironmentId, connector: string): Promise<string> {
  return (await resolveConnector(read, environmentId, connector))?.keyId ?? connector;
}
