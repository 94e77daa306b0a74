import type { Tools } from '../../core/capabilities/tools.ts';
import { readOverlay, setOverlay } from '../../core/overlays/tool-overlays.ts';
import { presentToolOverlay } from '../../core/present/tool-overlay.ts';
import type { Handler } from '../../http/contract.ts';

export const setToolOverlay: Handler<'setToolOverlay', Tools> = async (call, reply, tools) => {
  const { environment, cause, path, body } = call;
  const checked = await readOverlay(tools.store.read, tools, environment.id, path.tool_name, body);
  return call.commit(async (tx) => {
    const row = await setOverlay(tx, tools, environment.id, path.tool_name, checked);
    const overlay = presentToolOverlay(row, await tools.toolDirectory.fitOf(tx, row));
    await tools.events.emit(tx, cause, {
      type: 'tool_overlay.updated',
      subject: row.toolName,
      data: () => ({ overlay }),
    });
    return reply(200, { overlay });
  });
};
