import { type ToolChanges, updateCustomTool } from '../../core/discovery/custom-tools.ts';
import type { Handler } from '../../http/contract.ts';
import { presentOwnTool } from '../present/tool.ts';

export const updateTool: Handler<'updateTool'> = (call, reply, deps) =>
  call.commit(async (tx) => {
    const { environment, path, body } = call;
    // The contract leaves the depths of a tool open; the engine judges the whole.
    const tool = await updateCustomTool(tx, deps, environment.id, path.tool_name, body as unknown as ToolChanges);
    await deps.events.toolUpdated(tx, call.cause, tool.name, Object.keys(body));
    return reply(200, presentOwnTool(tool));
  });
