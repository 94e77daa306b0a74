import type { Tools } from '../../core/capabilities/tools.ts';
import { requireOverlay } from '../../core/overlays/tool-overlays.ts';
import { presentToolOverlay } from '../../core/present/tool-overlay.ts';
import type { Handler } from '../../http/contract.ts';

export const getToolOverlay: Handler<'getToolOverlay', Tools> = async (call, reply, { store, toolDirectory }) => {
  const overlay = await requireOverlay(store.read, call.environment.id, call.path.tool_name);
  return reply(200, { overlay: presentToolOverlay(overlay, await toolDirectory.fitOf(store.read, overlay)) });
};
