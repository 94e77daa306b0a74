import type { Executions } from '../../core/capabilities/executions.ts';
import { requireFound } from '../../core/errors.ts';
import { presentExecution, presentSteps } from '../../core/present/execution.ts';
import type { Handler } from '../../http/contract.ts';

export const getExecution: Handler<'getExecution', Executions> = async (call, reply, executions) => {
  const execution = requireFound(
    await executions.store.read.executions.get(call.environment.id, call.path.execution_id),
    'The execution',
  );
  const contents = await executions.executionContents.open(call.environment.id, execution.id);
  return reply(200, {
    execution: presentExecution(execution),
    steps: contents ? [...contents.steps] : presentSteps(execution),
    contents: contents ? { ...contents, steps: [...contents.steps] } : null,
  });
};
