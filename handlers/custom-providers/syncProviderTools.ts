import { ApiError } from '../../core/errors.ts';
import { readUpstreamTools } from '../../core/mcp/upstream/read-tools.ts';
import { storeUpstreamTools } from '../../core/mcp/upstream/sync.ts';
import type { AccountRow, CustomProviderRow, ReadRepositories } from '../../db/store.ts';
import type { Handler } from '../../http/contract.ts';
import { presentSyncReport } from '../present.ts';
import { requireCustomProvider } from './custom-provider.ts';

export const syncProviderTools: Handler<'syncProviderTools'> = async (call, reply, deps) => {
  const { environment, cause, body } = call;
  const { read } = deps.store;
  const provider = await requireCustomProvider(read, environment.id, call.path.identifier);
  if (!provider.isMcp) {
    throw new ApiError('VALIDATION_FAILED', 'Only an MCP server lists its tools.', {
      errors: [{ field: 'identifier', message: 'names a provider that is no MCP server' }],
    });
  }
  const account = await accountOf(read, provider, body.connected_account_id);
  const outcome = await readUpstreamTools(deps, environment, account, cause);
  if (!outcome.ok) throw new ApiError('TOOLS_NOT_LISTED', outcome.error.message);
  return call.commit(async (tx) => {
    const { listed } = outcome;
    const accept = body.accept_changes ?? false;
    const report = await storeUpstreamTools(tx, deps, environment.id, provider.identifier, listed, accept);
    await deps.events.toolsSynced(tx, cause, provider.identifier, report);
    return reply(200, presentSyncReport(report));
  });

  /** The account that is named, else one that works. */
  async function accountOf(
    from: ReadRepositories,
    { identifier }: CustomProviderRow,
    id: string | undefined,
  ): Promise<AccountRow> {
    const filters = { provider: identifier, status: 'ACTIVE' as const };
    const wanted = id ?? (await from.accounts.list(environment.id, filters, { size: 1 })).rows[0]?.id;
    const account = wanted === undefined ? undefined : await from.accounts.get(environment.id, wanted);
    if (account?.provider === identifier) return account;
    if (id !== undefined) throw new ApiError('NOT_FOUND', 'There is no such connected account of this provider.');
    throw new ApiError('NO_ACTIVE_ACCOUNT', 'Connect an account of the provider first: its tools are read with one.');
  }
};
