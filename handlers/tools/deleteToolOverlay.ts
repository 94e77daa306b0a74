import type { Tools } from '../../core/capabilities/tools.ts';
import { deleteOverlay } from '../../core/overlays/tool-overlays.ts';
import { presentToolOverlay } from '../../core/present/tool-overlay.ts';
import type { Handler } from '../../http/contract.ts';

export const deleteToolOverlay: Handler<'deleteToolOverlay', Tools> = (call, reply, tools) =>
  call.commit(async (tx) => {
    const row = await deleteOverlay(tx, call.environment.id, call.path.tool_name);
    const overlay = presentToolOverlay(row, await tools.toolDirectory.fitOf(tx, row));
    await tools.events.emit(tx, call.cause, {
      type: 'tool_overlay.deleted',
      subject: row.toolName,
      data: () => ({ overlay }),
    });
    return reply(200, {});
  });
