import type { McpConfigs } from '../../core/capabilities/mcp.ts';
import { pageTokens, readPage } from '../../core/paging.ts';
import { presentMcpConfig } from '../../core/present/mcp-config.ts';
import type { Handler } from '../../http/contract.ts';

export const listMcpConfigs: Handler<'listMcpConfigs', McpConfigs> = async (call, reply, mcp) => {
  const { page_size: size, page_token: token } = call.query;
  const scope = { environmentId: call.environment.id, list: 'listMcpConfigs', filters: {} };
  const request = readPage(mcp.sealedTokens, scope, token, size);
  const page = await mcp.store.read.mcpConfigs.list(call.environment.id, request);
  return reply(200, {
    configs: page.rows.map((row) => presentMcpConfig(row, call.environment)),
    ...pageTokens(mcp.sealedTokens, scope, page, mcp.now()),
    total_size: page.total,
  });
};
