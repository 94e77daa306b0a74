import type { AccountRow } from '../../../db/store.ts';
import { MCP_UPSTREAM } from '../../budgets.ts';
import { findPattern, findProvider } from '../../connections/providers.ts';
import { ApiError } from '../../errors.ts';
import type { Cause } from '../../events/events.ts';
import { endOf, storeEnd } from '../../executions/execution-end.ts';
import { accountNotActive } from '../../executions/next-action.ts';
import { recordStart } from '../../executions/start.ts';
import { toolFailure } from '../../executions/tool-failure.ts';
import type { CallDeps } from '../call-tool.ts';
import type { McpMapping } from '../server-definition.ts';
import type { McpSession } from '../session.ts';
import type { CallWatch } from '../upstream/call.ts';
import type { Content } from '../upstream/content-results.ts';
import { silenceMsOf } from '../upstream/timeout.ts';
import { readUpstream } from '../upstream/use-account.ts';
import { offeredContent } from './names.ts';

/** The methods that read one resource or prompt, and the tool names that their executions record. */
const CONTENT_READS = {
  'resources/read': 'mcp_resource',
  'prompts/get': 'mcp_prompt',
} as const;

export interface ContentRequest {
  method: keyof typeof CONTENT_READS;
  /** The parameters of the method, with the third-party server's own URI or name. */
  params: Content;
  watch: CallWatch;
}

/**
 * Reads a resource or a prompt of a third-party MCP server with an account. The read is recorded as an execution, like
 * a tool call.
 *
 * @returns the result with the URIs under which resources are offered
 * @throws ApiError ACCOUNT_NOT_ACTIVE; TOOL_FAILED or TOOL_TIMEOUT if the third-party server fails
 */
export function readContent(
  deps: CallDeps,
  session: McpSession,
  mapping: McpMapping,
  account: AccountRow,
  request: ContentRequest,
): Promise<Content> {
  const executionId = deps.newId('exec');
  return deps.instance.executions.during(executionId, () =>
    readOnce(executionId, deps, session, mapping, account, request),
  );
}

async function readOnce(
  executionId: string,
  deps: CallDeps,
  { environment, grant, requestId }: McpSession,
  { connection }: McpMapping,
  account: AccountRow,
  { method, params, watch }: ContentRequest,
): Promise<Content> {
  const cause: Cause = { environmentId: environment.id, actor: grant.clientId, requestId };
  const { read } = deps.store;
  const provider = await findProvider(read, deps.catalogue, environment.id, connection.providerKey);
  const pattern = provider && findPattern(provider, connection.type);
  if (!provider || account.status !== 'ACTIVE') throw accountNotActive(account, { pattern, connection });
  const toolName = CONTENT_READS[method];
  const startedAt = deps.now();
  const origin = { apiClientId: grant.clientId, instance: deps.instance, agentRunId: null, startedAt };
  const planned = { account, connection, provider, ownTool: null };
  await deps.store.write((tx) => recordStart(tx, environment.id, planned, { id: executionId, toolName, ...origin }));
  const started = {
    environmentId: environment.id,
    plan: { account },
    executionId,
    startedAt,
    readOnly: true,
    toolName,
  };
  const outcome = await ask();
  await storeEnd(deps, endOf(outcome, started, cause, deps));
  if (outcome instanceof ApiError) throw outcome;
  if (outcome.ok) return offeredContent(connection, outcome.data as Content);
  throw toolFailure(outcome.error, executionId, { pattern, connection });

  async function ask() {
    const limits = { silenceMs: silenceMsOf(connection), bytes: MCP_UPSTREAM.responseBytes };
    try {
      const response = await readUpstream(deps, environment, account, cause, { method, params, ...limits, ...watch });
      if (!response.ok) return response;
      if (response.value) return { ok: true as const, data: response.value, upstreamStatus: 200 };
      const message = 'The MCP server returned content that does not follow the protocol.';
      const error = { kind: 'upstream_invalid_response' as const, retryable: false, message };
      return { ok: false as const, error, sent: true };
    } catch (error) {
      if (error instanceof ApiError) return error;
      await storeEnd(deps, endOf('UNKNOWN', started, cause, deps)).catch(() => {});
      throw error;
    }
  }
}
