import type { Tools } from '../../core/capabilities/tools.ts';
import { createCustomTool, validateTool } from '../../core/discovery/custom-tools.ts';
import { presentOwnTool } from '../../core/present/tool.ts';
import type { Handler } from '../../http/contract.ts';

export const createTool: Handler<'createTool', Tools> = async (call, reply, tools) => {
  const { connector, ...definition } = call.body;
  const { environment, cause } = call;
  const validated = await validateTool(tools.store.read, tools, environment.id, connector, definition);
  return call.commit(async (tx) => {
    const tool = await createCustomTool(tx, tools, environment.id, connector, definition, validated);
    await tools.events.emit(tx, cause, {
      type: 'tool.created',
      subject: tool.name,
      data: (show) => ({ tool: show.tool({ tool, source: 'custom' }) }),
    });
    return reply(201, presentOwnTool(tool));
  });
};
