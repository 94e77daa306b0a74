import { callableTools } from '../../core/discovery/user-tools.ts';
import { pageOfList, pageTokens, readPage } from '../../core/paging.ts';
import type { Handler } from '../../http/contract.ts';
import { presentToolAccount, presentToolAs } from '../present/tool.ts';
import { readUser } from './tool-user.ts';

export const listScopedTools: Handler<'listScopedTools'> = async (call, reply, deps) => {
  const { page_size: size, page_token: token, format = 'native', detail = 'compact', ...filters } = call.query;
  const { environment } = call;
  const scope = { environmentId: environment.id, list: 'listScopedTools', filters };
  const callable = await callableTools(deps.store.read, deps, environment.id, readUser(filters));
  const rows = callable
    .filter(({ tool }) => filters.connector === undefined || tool.connector === filters.connector)
    .map((found) => ({ id: found.tool.name, found }));
  const page = pageOfList(rows, readPage(deps.sealedTokens, scope, token, size));
  return reply(200, {
    tools: page.rows.map(({ found }) => ({
      tool: presentToolAs(found, { format, detail }),
      accounts: found.accounts.map(presentToolAccount),
    })),
    ...pageTokens(deps.sealedTokens, scope, page, deps.now()),
    total_size: page.total,
  });
};
