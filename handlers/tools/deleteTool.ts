import type { Tools } from '../../core/capabilities/tools.ts';
import { deleteCustomTool } from '../../core/discovery/custom-tools.ts';
import type { Handler } from '../../http/contract.ts';

export const deleteTool: Handler<'deleteTool', Tools> = (call, reply, tools) =>
  call.commit(async (tx) => {
    const { tool_name: name } = call.path;
    await deleteCustomTool(tx, tools, call.environment.id, name);
    await tools.events.toolDeleted(tx, call.cause, name);
    return reply(200, {});
  });
