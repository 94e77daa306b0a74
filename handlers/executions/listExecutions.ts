import type { Executions } from '../../core/capabilities/executions.ts';
import { pageTokens, readPage, totalSize } from '../../core/paging.ts';
import { presentExecution } from '../../core/present/execution.ts';
import { timeOf } from '../../core/text/rfc3339.ts';
import type { Handler } from '../../http/contract.ts';

export const listExecutions: Handler<'listExecutions', Executions> = async (call, reply, executions) => {
  const { page_size: size, page_token: token, ...filters } = call.query;
  const environmentId = call.environment.id;
  const scope = { environmentId, list: 'listExecutions', filters };
  const page = await executions.store.read.executions.list(
    environmentId,
    {
      accountId: filters.connected_account_id,
      toolName: filters.tool_name,
      // Only failed executions have an error. The status is added to the filter, because it has an index.
      status: filters.status ?? (filters.error_kind && 'FAILED'),
      errorKind: filters.error_kind,
      apiClientId: filters.api_client_id,
      agentRunId: filters.agent_run_id,
      connector: filters.connector,
      startedFrom: timeOf(filters.started_from),
      startedBefore: timeOf(filters.started_before),
    },
    readPage(executions.sealedTokens, scope, token, size),
  );
  return reply(200, {
    executions: page.rows.map(presentExecution),
    ...pageTokens(executions.sealedTokens, scope, page, executions.now()),
    ...totalSize(page),
  });
};
