import { ApiError } from '../../core/errors.ts';
import { presentExecution } from '../../core/present/execution.ts';
import type { Handler } from '../../http/contract.ts';

export const getExecution: Handler<'getExecution'> = async (call, reply, deps) => {
  const execution = await deps.store.read.executions.get(call.environment.id, call.path.execution_id);
  if (!execution) throw new ApiError('NOT_FOUND', 'The execution does not exist.');
  const contents = await deps.executionContents.open(call.environment.id, execution.id);
  return reply(200, { execution: presentExecution(execution), contents: contents ?? null });
};
