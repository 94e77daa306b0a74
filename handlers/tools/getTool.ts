import type { Tools } from '../../core/capabilities/tools.ts';
import { requireFound } from '../../core/errors.ts';
import { presentToolAs } from '../../core/present/tool.ts';
import { definitionOf } from '../../core/tools/tool.ts';
import type { Handler, Schemas } from '../../http/contract.ts';
import { readToolView } from './tool-view.ts';

export const getTool: Handler<'getTool', Tools> = async (call, reply, tools) => {
  const view = readToolView({ ...call.query, detail: 'full' });
  const known = requireFound(
    await tools.toolDirectory.find(tools.store.read, call.environment.id, call.path.tool_name),
    'The tool',
  );
  const definition = definitionOf(known.tool) as unknown as Schemas['ToolDefinition'];
  return reply(200, {
    tool: presentToolAs(known, view),
    ...(view.format === 'native' && { examples: known.tool.examples ?? [] }),
    ...(known.source === 'custom' && view.format === 'native' && { definition }),
  });
};
