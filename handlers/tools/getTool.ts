import type { Tools } from '../../core/capabilities/tools.ts';
import { ApiError, requireFound } from '../../core/errors.ts';
import { presentToolAs } from '../../core/present/tool.ts';
import { definitionOf, ownNameOf } from '../../core/tools/tool.ts';
import type { Handler, Schemas } from '../../http/contract.ts';
import { readToolView } from './tool-view.ts';

export const getTool: Handler<'getTool', Tools> = async (call, reply, { store, toolDirectory }) => {
  const view = readToolView({ ...call.query, detail: 'full' });
  const { read } = store;
  const { id } = call.environment;
  const { tool_name: name } = call.path;
  const known = requireFound(await toolDirectory.find(read, id, name), `The tool ${name}`);
  if (known.withheld !== undefined) throw new ApiError('NOT_FOUND', known.withheld);
  // The definition is what its author wrote, without an overlay.
  const own = known.source === 'custom' ? await toolDirectory.bare(read, id, ownNameOf(known.tool)) : undefined;
  return reply(200, {
    tool: presentToolAs(known, view),
    ...(view.format === 'native' && { examples: known.tool.examples ?? [] }),
    ...(own &&
      view.format === 'native' && { definition: definitionOf(own.tool) as unknown as Schemas['ToolDefinition'] }),
  });
};
