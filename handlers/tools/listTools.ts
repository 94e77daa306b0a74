import { pageOfList, pageTokens, readPage } from '../../core/paging.ts';
import type { Handler } from '../../http/contract.ts';
import { presentTool } from '../present.ts';

export const listTools: Handler<'listTools'> = (call, reply, deps) => {
  const { page_size: size, page_token: token, ...filters } = call.query;
  const scope = { environmentId: call.environment.id, list: 'listTools', filters };
  const tools = deps.catalogue.tools({
    connector: filters.connector,
    tags: filters.tag === undefined ? [] : [filters.tag],
    readOnly: filters.read_only,
    query: filters.query,
  });
  const rows = tools.map((tool) => ({ id: tool.name, tool }));
  const page = pageOfList(rows, readPage(deps.sealedTokens, scope, token, size));
  return reply(200, {
    tools: page.rows.map((row) => presentTool(row.tool)),
    ...pageTokens(deps.sealedTokens, scope, page, deps.now()),
    total_size: page.total,
  });
};
