import type { Tools } from '../../core/capabilities/tools.ts';
import { previewOverlay } from '../../core/overlays/tool-overlays.ts';
import { presentTool } from '../../core/present/tool.ts';
import type { Handler } from '../../http/contract.ts';

export const previewToolOverlay: Handler<'previewToolOverlay', Tools> = async (call, reply, tools) => {
  const { environment, path, body } = call;
  const { own, shown } = await previewOverlay(tools.store.read, tools, environment.id, path.tool_name, body);
  return call.commit(async () =>
    reply(200, { tool: presentTool(own), ...(shown && { shown_tool: presentTool(shown) }) }),
  );
};
