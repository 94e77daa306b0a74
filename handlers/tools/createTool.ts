import { createCustomTool } from '../../core/discovery/custom-tools.ts';
import type { Handler } from '../../http/contract.ts';
import { presentOwnTool } from '../present/tool.ts';

export const createTool: Handler<'createTool'> = (call, reply, deps) =>
  call.commit(async (tx) => {
    const { connector, ...definition } = call.body;
    const tool = await createCustomTool(tx, deps, call.environment.id, connector, definition);
    await deps.events.toolCreated(tx, call.cause, tool.name);
    return reply(201, presentOwnTool(tool));
  });
