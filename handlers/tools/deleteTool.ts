import { deleteCustomTool } from '../../core/discovery/custom-tools.ts';
import type { Handler } from '../../http/contract.ts';

export const deleteTool: Handler<'deleteTool'> = (call, reply, deps) =>
  call.commit(async (tx) => {
    const { tool_name: name } = call.path;
    await deleteCustomTool(tx, deps, call.environment.id, name);
    await deps.events.toolDeleted(tx, call.cause, name);
    return reply(200, {});
  });
