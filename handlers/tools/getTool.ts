import { ApiError } from '../../core/errors.ts';
import type { Handler } from '../../http/contract.ts';
import { presentTool } from '../present.ts';

export const getTool: Handler<'getTool'> = (call, reply, deps) => {
  const tool = deps.catalogue.tool(call.path.tool_name);
  if (!tool) throw new ApiError('NOT_FOUND', 'There is no such tool.');
  return reply(200, { tool: presentTool(tool) });
};
