import { readSelector } from '../../core/accounts/selector.ts';
import { ApiError } from '../../core/errors.ts';
import type { ExecutionPlan } from '../../core/executions/plan.ts';
import { planExecution } from '../../core/executions/plan.ts';
import { previewPlan, runPlan } from '../../core/executions/run.ts';
import type { ToolOutcome } from '../../core/tools/outcome.ts';
import type { Handler } from '../../http/contract.ts';
import { recordOutcome } from './record-outcome.ts';
import { toolFailure } from './tool-failure.ts';

export const executeTool: Handler<'executeTool'> = async (call, reply, deps) => {
  const {
    connected_account_id: id,
    tool_name: toolName,
    tool_input: toolInput,
    agent_run_id: agentRunId,
    dry_run: dry,
    ...name
  } = call.body;
  const { environment, cause } = call;
  const executionId = deps.newId('exec');
  const request = { executionId, toolName, toolInput, selector: readSelector({ ...name, id }, 'connected_account_id') };

  if (dry) {
    const preview = previewPlan(await planExecution(deps.store.read, deps, environment.id, request), deps);
    return reply(200, { data: null, execution_id: executionId, dry_run_request: preview });
  }

  let plan: ExecutionPlan;
  const startedAt = deps.now();
  return call.commitThenAct(
    executionId,
    async (tx) => {
      plan = await planExecution(tx, deps, environment.id, request);
      const { account } = plan;
      await tx.executions.insert(environment.id, {
        id: executionId,
        accountId: account.id,
        connector: account.connector,
        toolName,
        agentRunId: agentRunId ?? null,
        apiClientId: call.client.clientId,
        startedAt,
      });
    },
    async () => {
      const outcome = await attempt();
      recordOutcome(outcome, { environment, plan, executionId, startedAt }, deps);
      if (outcome instanceof ApiError) return call.problem(outcome);
      if (!outcome.ok) return call.problem(toolFailure(outcome.error, executionId));
      return reply(200, {
        data: outcome.data,
        execution_id: executionId,
        ...(outcome.nextCursor !== undefined && { next_cursor: outcome.nextCursor }),
        ...(outcome.truncated && { truncated: true, truncation: outcome.truncated }),
      });
    },
  );

  /** An expected refusal is an outcome too: it is recorded, and kept for the idempotency key. After a fault nobody knows. */
  async function attempt(): Promise<ToolOutcome | ApiError> {
    try {
      return await runPlan(plan, deps.egressOf(environment), cause, deps);
    } catch (error) {
      if (error instanceof ApiError) return error;
      recordOutcome('UNKNOWN', { environment, plan, executionId, startedAt }, deps);
      throw error;
    }
  }
};
