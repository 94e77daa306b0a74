import type { Tools } from '../../core/capabilities/tools.ts';
import { pageOfList, pageTokens, readPage } from '../../core/paging.ts';
import { presentToolOverlay } from '../../core/present/tool-overlay.ts';
import type { Handler, Schemas } from '../../http/contract.ts';

export const listToolOverlays: Handler<'listToolOverlays', Tools> = async (call, reply, tools) => {
  const { page_size: size, page_token: token } = call.query;
  const { read } = tools.store;
  const { id: environmentId } = call.environment;
  const scope = { environmentId, list: 'listToolOverlays', filters: {} };
  const rows = (await read.toolOverlays.list(environmentId)).map((row) => ({ ...row, id: row.toolName }));
  const page = pageOfList(rows, readPage(tools.sealedTokens, scope, token, size));
  const overlays: Schemas['ToolOverlay'][] = [];
  for (const row of page.rows) overlays.push(presentToolOverlay(row, await tools.toolDirectory.fitOf(read, row)));
  return reply(200, {
    overlays,
    ...pageTokens(tools.sealedTokens, scope, page, tools.now()),
    total_size: page.total,
  });
};
