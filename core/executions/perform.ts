import type { EnvironmentId, NewStoredContent, Repositories, Store } from '../../db/store.ts';
import { ApiError } from '../errors.ts';
import type { Cause } from '../events/events.ts';
import type { CallWatch } from '../mcp/upstream/call.ts';
import type { Egress } from '../net/egress.ts';
import { inSpan, type SpanFacts } from '../spans.ts';
import type { ToolOutcome } from '../tools/outcome.ts';
import {
  type EndDeps,
  type ExecutionEnd,
  endOf,
  type RunningExecution,
  type StoreEndDeps,
  storeEnd,
} from './execution-end.ts';
import type { ExecutionRequest } from './execution-request.ts';
import type { ExecutionPlan, PlanDeps } from './plan.ts';
import { planExecution } from './plan.ts';
import { previewPlan } from './preview.ts';
import { type RunDeps, runPlan } from './run.ts';
import { recordPlanned, recordStart, type StartRecord } from './start.ts';
import { createStepLog } from './steps.ts';

/** Who requested an execution and when, and the process that runs it. */
export interface ExecutionOrigin {
  apiClientId: string;
  /** This process. */
  instance: StartRecord['instance'];
  /** The caller's own identifier of an agent's run. */
  agentRunId: string | null;
  /** Milliseconds UTC. */
  startedAt: number;
}

/**
 * Plans a call before the transaction that records its start. Returns an ApiError instead of throwing it, because the
 * transaction may find a stored response for the idempotency key, which is then returned instead of the error.
 */
export async function planAhead(
  { read, planChanges }: Pick<Store, 'read' | 'planChanges'>,
  deps: PlanDeps,
  environmentId: EnvironmentId,
  request: ExecutionRequest,
): Promise<ExecutionPlan | ApiError> {
  const asOf = planChanges();
  try {
    const plan = await planExecution(read, deps, environmentId, request);
    plan.asOf = asOf;
    return plan;
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}

/**
 * Records the start of a call that was planned ahead. Commit the record before calling `finishExecution`: if the server
 * crashes during the call, the committed record shows that its outcome is unknown (threat E7).
 *
 * @returns undefined if the plan is outdated; nothing is recorded then
 */
export async function beginPlanned(
  tx: Repositories,
  environmentId: EnvironmentId,
  request: ExecutionRequest,
  plan: ExecutionPlan,
  origin: ExecutionOrigin,
): Promise<RunningExecution | undefined> {
  const isRecorded = await recordPlanned(tx, environmentId, plan, recordOf(request, origin));
  return isRecorded ? running(environmentId, request, plan, origin) : undefined;
}

/**
 * Plans a call and records its start, in one transaction.
 *
 * @throws ApiError as `planExecution`; nothing is recorded then
 */
export async function beginExecution(
  tx: Repositories,
  deps: PlanDeps,
  environmentId: EnvironmentId,
  request: ExecutionRequest,
  origin: ExecutionOrigin,
): Promise<RunningExecution> {
  const plan = await planExecution(tx, deps, environmentId, request);
  await recordStart(tx, environmentId, plan, recordOf(request, origin));
  return running(environmentId, request, plan, origin);
}

function recordOf({ executionId, toolName }: ExecutionRequest, origin: ExecutionOrigin): StartRecord {
  return { id: executionId, toolName, ...origin };
}

function running(
  environmentId: EnvironmentId,
  { executionId }: ExecutionRequest,
  plan: ExecutionPlan,
  { startedAt }: ExecutionOrigin,
): RunningExecution {
  return { environmentId, plan, executionId, startedAt, readOnly: plan.call.tool.hints.read_only };
}

/** The result of an execution; `end` must be stored before the response is sent. */
export interface FinishedExecution {
  /** An expected error counts as an outcome too. */
  outcome: ToolOutcome | ApiError;
  end: ExecutionEnd;
}

/** Returns the span of an execution: OpenTelemetry's semantic conventions for generative AI, "Execute tool span". */
function spanOf({ executionId, plan }: RunningExecution): SpanFacts {
  const tool = plan.call.tool.name;
  return {
    name: `execute_tool ${tool}`,
    kind: 'internal',
    attributes: {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': tool,
      'gen_ai.tool.type': 'extension',
      'gen_ai.tool.call.id': executionId,
      'valetkey.connector': plan.account.connector,
    },
  };
}

/**
 * Runs an execution whose start was recorded.
 *
 * @param watch cancels the call and receives its progress; only used for tools of MCP servers
 * @throws errors that are bugs; the execution is then stored as UNKNOWN
 */
export async function finishExecution(
  execution: RunningExecution,
  egress: Egress,
  cause: Cause,
  deps: RunDeps & EndDeps & StoreEndDeps,
  watch: CallWatch = {},
): Promise<FinishedExecution> {
  const stepLog = createStepLog(deps.now);
  const { steps } = stepLog;
  const outcome = await inSpan(() => spanOf(execution), attempt);
  const kept = outcome instanceof ApiError ? false : deps.executionContents.kept(execution.environmentId);
  const contents = kept === false ? undefined : await sealedContents(outcome, kept);
  return { outcome, end: endOf(outcome, execution, cause, deps, { contents, steps }) };

  async function attempt(span: SpanFacts): Promise<ToolOutcome | ApiError> {
    try {
      const outcome = await runPlan(execution.plan, egress, cause, deps, watch, stepLog);
      if (!outcome.ok) span.failure = outcome.error.kind;
      return outcome;
    } catch (error) {
      span.failure = error instanceof ApiError ? error.code : 'unknown';
      if (error instanceof ApiError) return error;
      // The original error is reported; `storeEnd` logs its own errors.
      await storeEnd(deps, endOf('UNKNOWN', execution, cause, deps, { steps })).catch(() => {});
      throw error;
    }
  }

  async function sealedContents(
    outcome: ToolOutcome | ApiError,
    isKept: boolean | Promise<boolean>,
  ): Promise<NewStoredContent | undefined> {
    const { plan, executionId } = execution;
    const { executionContents, log } = deps;
    try {
      if (outcome instanceof ApiError || !(await isKept)) return undefined;
      const response = outcome.ok ? outcome.data : outcome.error.upstreamBody;
      const request = await previewPlan(plan, deps);
      return await executionContents.seal(plan.account, executionId, { request, response, steps });
    } catch (err) {
      log.error({ err, execution_id: executionId }, 'contents of an execution were not stored');
      return undefined;
    }
  }
}
