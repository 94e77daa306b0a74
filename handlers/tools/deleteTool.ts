import type { Tools } from '../../core/capabilities/tools.ts';
import { deleteCustomTool } from '../../core/discovery/custom-tools.ts';
import type { Tool } from '../../core/tools/tool.ts';
import type { Handler } from '../../http/contract.ts';

export const deleteTool: Handler<'deleteTool', Tools> = (call, reply, tools) =>
  call.commit(async (tx) => {
    const { tool_name: name } = call.path;
    const { definition, source } = await deleteCustomTool(tx, tools, call.environment.id, name);
    await tools.events.emit(tx, call.cause, {
      type: 'tool.deleted',
      subject: name,
      data: (show) => ({ tool: show.tool({ tool: JSON.parse(definition) as Tool, source }) }),
    });
    return reply(200, {});
  });
