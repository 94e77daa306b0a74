import { readSelector } from '../../core/accounts/selector.ts';
import type { Executions } from '../../core/capabilities/executions.ts';
import { ApiError } from '../../core/errors.ts';
import type { RunningExecution } from '../../core/executions/execution-end.ts';
import { checkOwnInput } from '../../core/executions/own-input.ts';
import { beginExecution, beginPlanned, finishExecution, planAhead } from '../../core/executions/perform.ts';
import { partyOfPlan, planExecution } from '../../core/executions/plan.ts';
import { previewPlan } from '../../core/executions/preview.ts';
import { toolFailure } from '../../core/executions/tool-failure.ts';
import type { Handler } from '../../http/contract.ts';

export const executeTool: Handler<'executeTool', Executions> = async (call, reply, executions) => {
  const {
    connected_account_id: id,
    tool_name: toolName,
    tool_input: toolInput = {},
    agent_run_id: agentRunId = null,
    dry_run: dry,
    all_pages: allPages,
    ...name
  } = call.body;
  const { environment, cause } = call;
  const executionId = executions.newId('exec');
  const selector = readSelector({ ...name, id }, 'connected_account_id');
  const { read } = executions.store;
  const given = { executionId, toolName, toolInput, selector, allPages };
  const request = await checkOwnInput(read, executions, environment.id, given);

  if (dry) {
    const preview = await previewPlan(await planExecution(read, executions, environment.id, request), executions);
    return reply(200, { data: null, execution_id: executionId, dry_run_request: preview });
  }

  const ahead = await planAhead(executions.store, executions, environment.id, request);
  let execution: RunningExecution;
  const origin = {
    apiClientId: call.client.actor,
    instance: executions.instance,
    agentRunId,
    startedAt: executions.now(),
  };
  return call.commitThenAct(
    executionId,
    async (tx) => {
      if (ahead instanceof ApiError) throw ahead;
      execution =
        (await beginPlanned(tx, environment.id, request, ahead, origin)) ??
        (await beginExecution(tx, executions, environment.id, request, origin));
    },
    async () => {
      const { outcome, end } = await finishExecution(execution, executions.egressOf(environment), cause, executions);
      if (outcome instanceof ApiError) return { reply: call.problem(outcome), end };
      if (!outcome.ok) {
        const failure = toolFailure(outcome.error, executionId, partyOfPlan(execution.plan));
        return { reply: call.problem(failure), end };
      }
      const result = reply(200, {
        data: outcome.data,
        execution_id: executionId,
        ...(outcome.nextCursor !== undefined && { next_cursor: outcome.nextCursor }),
        ...(outcome.pages && { pages: outcome.pages }),
        ...(outcome.truncated && { truncated: true, truncation: outcome.truncated }),
      });
      return { reply: result, end };
    },
  );
};
