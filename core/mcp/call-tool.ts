import type { CallToolResult } from '@modelcontextprotocol/server';
import type { EnvironmentRow, Store } from '../../db/store.ts';
import type { CreateLinkDeps } from '../accounts/links/create-link.ts';
import { ApiError } from '../errors.ts';
import type { Cause, Events } from '../events/events.ts';
import { type EndDeps, type RunningExecution, type StoreEndDeps, storeEnd } from '../executions/execution-end.ts';
import { checkOwnInput, type OwnInputDeps } from '../executions/own-input.ts';
import { beginExecution, beginPlanned, finishExecution, planAhead } from '../executions/perform.ts';
import { type PlanDeps, partyOfPlan } from '../executions/plan.ts';
import type { RunDeps } from '../executions/run.ts';
import { toolFailure } from '../executions/tool-failure.ts';
import type { Instance } from '../instances/instance.ts';
import type { Egress } from '../net/egress.ts';
import { takeAllPages } from './all-pages.ts';
import { askToConnect, type ConnectRequest } from './ask-to-connect.ts';
import { accountFor, accountKeyOf } from './connect-account.ts';
import { nextActionOf } from './connect-messages.ts';
import type { ConnectState } from './connect-state.ts';
import type { OfferedTool } from './offered-tools.ts';
import type { OutputChecker } from './output-checker.ts';
import { failureResult, successResult } from './results.ts';
import type { McpSession } from './session.ts';
import type { CallWatch } from './upstream/call.ts';
import { type WaitDeps, waitForAccount } from './wait-for-account.ts';

export interface CallDeps extends PlanDeps, OwnInputDeps, RunDeps, EndDeps, StoreEndDeps, CreateLinkDeps, WaitDeps {
  events: Events;
  store: Store;
  instance: Instance;
  outputs: OutputChecker;
  newId(prefix: 'exec' | 'conn' | 'ca' | 'areq'): string;
  now(): number;
  egressOf(environment: EnvironmentRow): Egress;
}

/** A tool call by a client of an MCP server. */
export interface McpCall {
  offered: OfferedTool;
  toolInput: unknown;
  /**
   * The link that the client received earlier, if it repeats the call to get the result; null if it did not receive
   * one.
   */
  earlierLink: ConnectState | null;
  /** The signal is aborted when the client cancels the call or disconnects. */
  watch: CallWatch & { signal: AbortSignal };
  /**
   * If true, no link is created. A call that needs a link returns `left`, and the caller repeats it without this
   * option.
   */
  leavesLinks?: boolean;
}

/**
 * `connect`: the user must open a link first, for the reason in `message`. `waited`: the client had already received
 * the link, and this call has waited for the user. `left`: a link is needed, but `leavesLinks` is true.
 */
export type CallResponse = { kind: 'result'; result: CallToolResult } | { kind: 'left' } | ConnectRequest;

/**
 * Calls a tool for the user of a session. The call is planned, recorded and run like a call over REST, with the same
 * outcome. If the user must open a link before the call can run, the link is returned and nothing is sent. If the
 * provider rejected the call because the account lacks a scope, a link that requests the scope is returned, unless such
 * a link is not possible or the client has already received one.
 */
export function callTool(deps: CallDeps, session: McpSession, call: McpCall): Promise<CallResponse> {
  const executionId = deps.newId('exec');
  return deps.instance.executions.during(executionId, () => callOnce(executionId, deps, session, call));
}

async function callOnce(
  executionId: string,
  deps: CallDeps,
  session: McpSession,
  { offered: { tool, connection }, toolInput: given, earlierLink, watch, leavesLinks = false }: McpCall,
): Promise<CallResponse> {
  const { environment, grant } = session;
  const cause: Cause = { environmentId: environment.id, actor: grant.clientId, requestId: session.requestId };
  const key = accountKeyOf(session, connection);
  const origin = {
    apiClientId: grant.clientId,
    instance: deps.instance,
    agentRunId: null,
    startedAt: deps.now(),
  };
  let hasAccount = false;
  let execution: RunningExecution | undefined;
  if (earlierLink) await waitForAccount(deps, session, key, watch.signal);
  try {
    if (session.scopesMissing && !leavesLinks) {
      hasAccount = true;
      return await connect(undefined, session.scopesMissing);
    }
    const selector = { by: 'key' as const, key, connectionId: connection.id };
    const call = { executionId, toolName: tool.name, selector, ...takeAllPages(tool, given) };
    const request = await checkOwnInput(deps.store.read, deps, environment.id, call);
    const ahead = await planAhead(deps.store, deps, environment.id, request);
    const { value, durable } = await deps.store.commit(async (tx) => {
      const begun =
        ahead instanceof ApiError ? undefined : await beginPlanned(tx, environment.id, request, ahead, origin);
      if (begun) {
        hasAccount = true;
        return begun;
      }
      const found = await accountFor(tx, deps, session, connection, cause);
      hasAccount = found?.isNew === false;
      return found && beginExecution(tx, deps, environment.id, request, origin);
    });
    execution = value;
    // An account that this call created must be on the disk before it is used. For an existing account, only the record
    // of the call is written, so the write to the disk and the call run concurrently.
    if (!hasAccount) await durable;
    if (!execution) return await connect();
    const { outcome, end } = await finishExecution(execution, deps.egressOf(environment), cause, deps, watch);
    await storeEnd(deps, end);
    await durable;
    if (outcome instanceof ApiError) throw outcome;
    if (outcome.ok) {
      const fits = await deps.outputs.fits(environment.id, tool, outcome.data);
      return { kind: 'result', result: successResult(executionId, outcome, fits) };
    }
    const failure = toolFailure(outcome.error, executionId, partyOfPlan(execution.plan));
    // A client that repeats the call with its link receives no second link: the user may have declined the scope.
    if (outcome.error.requiredScopes && mayGrantMore(failure) && !earlierLink && grant.mayConnect) {
      return await connect(undefined, failure);
    }
    return { kind: 'result', result: failureResult(failure) };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const action = error.code === 'ACCOUNT_NOT_ACTIVE' ? actionOf(error) : undefined;
    if (action?.operation_id === 'generateMagicLink') return connect(action.type);
    const explained = action
      ? new ApiError(error.code, action.message, { extra: { next_action: action }, cause: error })
      : withNextAction(error, hasAccount);
    return { kind: 'result', result: failureResult(explained, execution && executionId) };
  }

  async function connect(action?: string, failure?: ApiError): Promise<CallResponse> {
    if (leavesLinks) {
      session.scopesMissing = failure;
      return { kind: 'left' };
    }
    const asked = await askToConnect(deps, session, connection, { cause, earlierLink, hasAccount, action, failure });
    return asked instanceof ApiError ? { kind: 'result', result: failureResult(asked) } : asked;
  }
}

function actionOf({ extra }: ApiError) {
  return extra?.['next_action'] as { type: string; operation_id: string; message: string } | undefined;
}

function mayGrantMore(failure: ApiError): boolean {
  return actionOf(failure)?.operation_id === 'generateMagicLink';
}

function withNextAction(error: ApiError, hasAccount: boolean): ApiError {
  const next_action = nextActionOf(error, hasAccount);
  if (!next_action) return error;
  const { code, message, errors, extra } = error;
  return new ApiError(code, message, { ...(errors && { errors }), extra: { ...extra, next_action }, cause: error });
}
