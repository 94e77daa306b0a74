import { createCustomTool, judgeTool } from '../../core/discovery/custom-tools.ts';
import { presentOwnTool } from '../../core/present/tool.ts';
import type { Handler } from '../../http/contract.ts';

export const createTool: Handler<'createTool'> = async (call, reply, deps) => {
  const { connector, ...definition } = call.body;
  const { environment, cause } = call;
  const judged = await judgeTool(deps.store.read, deps, environment.id, connector, definition);
  return call.commit(async (tx) => {
    const tool = await createCustomTool(tx, deps, environment.id, connector, definition, judged);
    await deps.events.toolCreated(tx, cause, tool.name);
    return reply(201, presentOwnTool(tool));
  });
};
