import type { Tools } from '../../core/capabilities/tools.ts';
import { pageOfList, pageTokens, readPage } from '../../core/paging.ts';
import { presentToolAs } from '../../core/present/tool.ts';
import { presentToolPage } from '../../core/present/tool-page.ts';
import type { Handler } from '../../http/contract.ts';
import { readToolView } from './tool-view.ts';

export const listTools: Handler<'listTools', Tools> = async (call, reply, tools) => {
  const { page_size: size, page_token: token, format, detail, strict, ...filters } = call.query;
  const view = readToolView({ format, detail, strict });
  const { environment } = call;
  const { read } = tools.store;
  const scope = { environmentId: environment.id, list: 'listTools', filters };
  const filter = {
    connector: filters.connector,
    tags: filters.tag === undefined ? [] : [filters.tag],
    hints: {
      read_only: filters.read_only,
      destructive: filters.destructive,
      idempotent: filters.idempotent,
      open_world: filters.open_world,
    },
  };
  const cards =
    filters.query === undefined
      ? await tools.toolDirectory.browse(read, environment.id, filter)
      : (await tools.toolDirectory.search(read, environment.id, filters.query, filter)).map((hit) => hit.card);
  const request = readPage(tools.sealedTokens, scope, token, size);
  const { page, tools: shown } = await presentToolPage(
    pageOfList(
      cards.map(({ name }) => ({ id: name })),
      request,
    ),
    request,
    view,
    (name) => tools.toolDirectory.find(read, environment.id, name),
    (known) => presentToolAs(known, view),
  );
  return reply(200, {
    tools: shown,
    ...pageTokens(tools.sealedTokens, scope, page, tools.now()),
    total_size: page.total,
  });
};
