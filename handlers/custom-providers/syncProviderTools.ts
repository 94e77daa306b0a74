import type { Providers } from '../../core/capabilities/providers.ts';
import { ApiError } from '../../core/errors.ts';
import { accountContextOf } from '../../core/executions/account-context.ts';
import { toolsNotListed } from '../../core/executions/tool-failure.ts';
import { syncProvider } from '../../core/mcp/upstream/sync-provider.ts';
import { presentSyncReport } from '../../core/present/provider.ts';
import type { AccountRow, CustomProviderRow, EnvironmentId, ReadRepositories } from '../../db/store.ts';
import type { Handler } from '../../http/contract.ts';
import { requireCustomProvider } from './custom-provider.ts';

export const syncProviderTools: Handler<'syncProviderTools', Providers> = (call, reply, providers) => {
  const { environment, cause, body } = call;
  let provider: CustomProviderRow;
  let account: AccountRow;
  return call.commitThenAct(
    providers.newId('exec'),
    async (tx) => {
      provider = await requireCustomProvider(tx, environment.id, call.path.identifier);
      if (!provider.isMcp) {
        throw new ApiError('VALIDATION_FAILED', 'Only the tools of MCP servers can be synchronized.', {
          errors: [{ field: 'identifier', message: 'does not name an MCP server' }],
        });
      }
      account = await accountOf(tx, environment.id, provider, body.connected_account_id);
    },
    async () => {
      try {
        const order = { environment, connector: provider.identifier, account, accept: body.accept_changes ?? false };
        const synced = await syncProvider(providers, order, cause, async (report) =>
          reply(200, presentSyncReport(report)),
        );
        if (synced.ok) return { reply: synced.value };
        const context = await accountContextOf(providers.store.read, providers.catalogue, account);
        return { reply: call.problem(toolsNotListed(synced.error, context)) };
      } catch (error) {
        // An expected error is returned as a response and not thrown, so that it is stored for the idempotency key.
        if (error instanceof ApiError) return { reply: call.problem(error) };
        throw error;
      }
    },
  );
};

/** Returns the account that the request names, otherwise any active account of the provider. */
async function accountOf(
  read: ReadRepositories,
  environmentId: EnvironmentId,
  { identifier }: CustomProviderRow,
  id: string | undefined,
): Promise<AccountRow> {
  const filters = { provider: identifier, status: 'ACTIVE' as const };
  const wanted = id ?? (await read.accounts.list(environmentId, filters, { size: 1 })).rows[0]?.id;
  const account = wanted === undefined ? undefined : await read.accounts.get(environmentId, wanted);
  if (account?.provider === identifier) return account;
  if (id !== undefined) throw new ApiError('NOT_FOUND', `The provider has no connected account with the id ${id}.`);
  throw new ApiError(
    'NO_ACTIVE_ACCOUNT',
    'The provider has no active account: connect or reauthorize one, which is needed to list the tools.',
  );
}
