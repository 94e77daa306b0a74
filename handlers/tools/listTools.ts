import { pageOfList, pageTokens, readPage } from '../../core/paging.ts';
import { presentToolAs } from '../../core/present/tool.ts';
import type { Handler } from '../../http/contract.ts';
import { readToolView } from './tool-view.ts';

export const listTools: Handler<'listTools'> = async (call, reply, deps) => {
  const { page_size: size, page_token: token, format, detail, strict, ...filters } = call.query;
  const view = readToolView({ format, detail, strict });
  const { environment } = call;
  const { read } = deps.store;
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
      ? await deps.toolDirectory.browse(read, environment.id, filter)
      : (await deps.toolDirectory.search(read, environment.id, filters.query, filter)).map((hit) => hit.card);
  const page = pageOfList(
    cards.map(({ name }) => ({ id: name })),
    readPage(deps.sealedTokens, scope, token, size),
  );
  const known = await Promise.all(page.rows.map(({ id }) => deps.toolDirectory.find(read, environment.id, id)));
  return reply(200, {
    tools: known.filter((tool) => tool !== undefined).map((tool) => presentToolAs(tool, view)),
    ...pageTokens(deps.sealedTokens, scope, page, deps.now()),
    total_size: page.total,
  });
};
