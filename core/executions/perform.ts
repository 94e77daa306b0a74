import type { EnvironmentId, Repositories } from '../../db/store.ts';
import { ApiError } from '../errors.ts';
import type { Cause } from '../events/events.ts';
import type { Egress } from '../net/egress.ts';
import type { ToolOutcome } from '../tools/outcome.ts';
import type { ExecutionRequest, PlanTools } from './plan.ts';
import { planExecution } from './plan.ts';
import type { RecordTools, RunningExecution } from './record-outcome.ts';
import { recordOutcome } from './record-outcome.ts';
import type { RunTools } from './run.ts';
import { previewPlan, runPlan } from './run.ts';

/** Who asked for an execution, and when. */
export interface ExecutionOrigin {
  apiClientId: string;
  /** The caller's own mark for a run of an agent. */
  agentRunId: string | null;
  /** Milliseconds UTC. */
  startedAt: number;
}

/**
 * Judges a call and records its start. What this writes has to be committed before `finishExecution`: a crash in between leaves a
 * record that says the outcome is unknown, which is the truth (threat E7).
 *
 * @throws ApiError as `planExecution`; nothing is recorded then
 */
export async function beginExecution(
  tx: Repositories,
  tools: PlanTools,
  environmentId: EnvironmentId,
  request: ExecutionRequest,
  { apiClientId, agentRunId, startedAt }: ExecutionOrigin,
): Promise<RunningExecution> {
  const plan = await planExecution(tx, tools, environmentId, request);
  const { executionId, toolName } = request;
  await tx.executions.insert(environmentId, {
    id: executionId,
    accountId: plan.account.id,
    connector: plan.account.connector,
    toolName,
    agentRunId,
    apiClientId,
    startedAt,
  });
  return { environmentId, plan, executionId, startedAt };
}

/**
 * Runs what was begun and records what came of it. An expected refusal is an outcome too and is returned; after a fault, which is
 * thrown, nobody knows.
 */
export async function finishExecution(
  execution: RunningExecution,
  egress: Egress,
  cause: Cause,
  tools: RunTools & RecordTools,
): Promise<ToolOutcome | ApiError> {
  const outcome = await attempt();
  recordOutcome(outcome, execution, tools);
  if (!(outcome instanceof ApiError) && (await tools.executionContents.kept(execution.environmentId))) {
    await keepContents(outcome).catch((err) =>
      tools.log.error({ err, execution_id: execution.executionId }, 'contents of an execution were not kept'),
    );
  }
  return outcome;

  async function keepContents(result: ToolOutcome): Promise<void> {
    const { plan, executionId } = execution;
    const answer = result.ok ? result.data : result.error.upstreamBody;
    const request = await previewPlan(plan, tools);
    await tools.executionContents.keep(plan.account, executionId, { request, answer });
  }

  async function attempt(): Promise<ToolOutcome | ApiError> {
    try {
      return await runPlan(execution.plan, egress, cause, tools);
    } catch (error) {
      if (error instanceof ApiError) return error;
      recordOutcome('UNKNOWN', execution, tools);
      throw error;
    }
  }
}
