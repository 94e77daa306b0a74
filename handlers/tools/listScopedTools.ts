import type { Tools } from '../../core/capabilities/tools.ts';
import { callableTools } from '../../core/discovery/user-tools.ts';
import { pageOfList, pageTokens, readPage } from '../../core/paging.ts';
import { presentToolAccount, presentToolAs } from '../../core/present/tool.ts';
import { presentToolPage } from '../../core/present/tool-page.ts';
import type { Handler } from '../../http/contract.ts';
import { readUser } from './tool-user.ts';
import { readToolView } from './tool-view.ts';

export const listScopedTools: Handler<'listScopedTools', Tools> = async (call, reply, api) => {
  const { page_size: size, page_token: token, format, detail, strict, ...filters } = call.query;
  const view = readToolView({ format, detail, strict });
  const { environment } = call;
  const scope = { environmentId: environment.id, list: 'listScopedTools', filters };
  const callable = await callableTools(
    api.store.read,
    api,
    environment.id,
    readUser(filters),
    filters.max_listed_tools,
  );
  const rows = callable
    .filter(({ tool }) => filters.connector === undefined || tool.connector === filters.connector)
    .map(({ tool, accounts }) => ({ id: tool.name, accounts }));
  const request = readPage(api.sealedTokens, scope, token, size);
  const { page, tools } = await presentToolPage(
    pageOfList(rows, request),
    request,
    view,
    (name) => api.toolDirectory.find(api.store.read, environment.id, name),
    (known, { accounts }) => ({ tool: presentToolAs(known, view), accounts: accounts.map(presentToolAccount) }),
  );
  return reply(200, {
    tools,
    ...pageTokens(api.sealedTokens, scope, page, api.now()),
    total_size: page.total,
  });
};
