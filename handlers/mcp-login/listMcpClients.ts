import type { McpLogins } from '../../core/capabilities/mcp-logins.ts';
import { pageTokens, readPage } from '../../core/paging.ts';
import { presentMcpClient } from '../../core/present/mcp-client.ts';
import type { Handler } from '../../http/contract.ts';

export const listMcpClients: Handler<'listMcpClients', McpLogins> = async (call, reply, logins) => {
  const { page_size: size, page_token: token } = call.query;
  const scope = { environmentId: call.environment.id, list: 'listMcpClients', filters: {} };
  const request = readPage(logins.sealedTokens, scope, token, size);
  const page = await logins.store.read.oauthClients.list(call.environment.id, request);
  return reply(200, {
    clients: page.rows.map(presentMcpClient),
    ...pageTokens(logins.sealedTokens, scope, page, logins.now()),
    total_size: page.total,
  });
};
