import type { CallToolResult } from '@modelcontextprotocol/server';
import type { ConnectionRow, EnvironmentRow, Store } from '../../db/store.ts';
import type { CreateLinkTools } from '../accounts/links/create-link.ts';
import { ApiError } from '../errors.ts';
import type { Cause } from '../events/events.ts';
import { beginExecution, finishExecution } from '../executions/perform.ts';
import type { PlanTools } from '../executions/plan.ts';
import type { RecordTools, RunningExecution } from '../executions/record-outcome.ts';
import type { RunTools } from '../executions/run.ts';
import { toolFailure } from '../executions/tool-failure.ts';
import type { Egress } from '../net/egress.ts';
import { accountFor, accountKeyOf, linkFor } from './connect-account.ts';
import type { ConnectState } from './connect-state.ts';
import type { OfferedTool } from './offered-tools.ts';
import type { OutputChecker } from './output-checker.ts';
import { failureResult, successResult } from './results.ts';
import type { McpSession } from './session.ts';

export interface CallTools extends PlanTools, RunTools, RecordTools, CreateLinkTools {
  store: Store;
  outputs: OutputChecker;
  newId(prefix: 'exec' | 'conn' | 'ca' | 'areq'): string;
  now(): number;
  egressOf(environment: EnvironmentRow): Egress;
}

/** `connect`: the call waits for the user, who has to go to a link first. */
export type CallAnswer =
  | { kind: 'result'; result: CallToolResult }
  | { kind: 'connect'; link: ConnectState; why: string };

/**
 * Calls a tool for the user of a session: planned, recorded and run like a call over REST, with the same outcome.
 *
 * @param offered the link that the client was sent to before, when it comes back for the result
 */
export async function callTool(
  tools: CallTools,
  session: McpSession,
  { tool, connection }: OfferedTool,
  toolInput: unknown,
  offered: ConnectState | null,
): Promise<CallAnswer> {
  const { environment, grant } = session;
  const cause: Cause = { environmentId: environment.id, actor: grant.clientId, requestId: session.requestId };
  const executionId = tools.newId('exec');
  const selector = { by: 'key' as const, key: accountKeyOf(session, connection) };
  const request = { executionId, toolName: tool.name, toolInput, selector };
  const origin = { apiClientId: grant.clientId, agentRunId: null, startedAt: tools.now() };
  let execution: RunningExecution | undefined;
  try {
    execution = await tools.store.write(async (tx) => {
      const account = await accountFor(tx, tools, session, connection, cause);
      return account && beginExecution(tx, tools, environment.id, request, origin);
    });
    if (!execution) return await connect(`${connection.keyId} is not connected yet.`);
    const outcome = await finishExecution(execution, tools.egressOf(environment), cause, tools);
    if (outcome instanceof ApiError) throw outcome;
    if (outcome.ok) return { kind: 'result', result: successResult(tool, executionId, outcome, tools.outputs) };
    const { authorizationType } = execution.plan.account;
    return { kind: 'result', result: failureResult(toolFailure(outcome.error, executionId, authorizationType)) };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (asksForLink(error)) return connect(error.message);
    return { kind: 'result', result: failureResult(error, execution && executionId) };
  }

  async function connect(why: string): Promise<CallAnswer> {
    if (offered && offered.expiresAt > tools.now()) return { kind: 'connect', link: offered, why };
    try {
      const link = await tools.store.write((tx) => linkFor(tx, tools, session, connection, cause));
      return { kind: 'connect', link, why };
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return { kind: 'result', result: failureResult(explained(error, connection)) };
    }
  }
}

/** Whether a person can mend it by going through a link. */
function asksForLink({ code, extra }: ApiError): boolean {
  const action = extra?.['next_action'] as { operation_id?: string } | undefined;
  return code === 'ACCOUNT_NOT_ACTIVE' && action?.operation_id === 'generateMagicLink';
}

/** No link could be made: what the model is told names the account, and what stands in the way. */
function explained(error: ApiError, { keyId }: ConnectionRow): ApiError {
  if (error.extra?.['next_action']) return error;
  const detail = error.errors?.map(({ field, message }) => `${field} ${message}`).join('; ');
  return new ApiError('ACCOUNT_NOT_ACTIVE', `The user has no usable account of ${keyId}, and no link can be made.`, {
    extra: {
      next_action: {
        type: 'authorize',
        operation_id: 'generateMagicLink',
        message: detail ? `${error.message} ${detail}.` : error.message,
      },
    },
    cause: error,
  });
}
