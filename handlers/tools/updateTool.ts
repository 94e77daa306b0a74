import type { Tools } from '../../core/capabilities/tools.ts';
import { type ToolChanges, updateCustomTool, validateToolChanges } from '../../core/discovery/custom-tools.ts';
import { presentOwnTool } from '../../core/present/tool.ts';
import type { Handler } from '../../http/contract.ts';

export const updateTool: Handler<'updateTool', Tools> = async (call, reply, tools) => {
  const { environment, path, body, cause } = call;
  // The contract does not describe a tool in every detail; `validateToolChanges` validates it completely.
  const changes = body as unknown as ToolChanges;
  const validated = await validateToolChanges(tools.store.read, tools, environment.id, path.tool_name, changes);
  return call.commit(async (tx) => {
    const tool = await updateCustomTool(tx, tools, environment.id, path.tool_name, changes, validated);
    await tools.events.emit(tx, cause, {
      type: 'tool.updated',
      subject: tool.name,
      details: { fields: Object.keys(body) },
      data: (show) => ({ tool: show.tool({ tool, source: 'custom' }) }),
    });
    return reply(200, presentOwnTool(tool));
  });
};
