import type { McpLogins } from '../../core/capabilities/mcp-logins.ts';
import { pageTokens, readPage, totalSize } from '../../core/paging.ts';
import { presentMcpGrant } from '../../core/present/mcp-grant.ts';
import type { Handler } from '../../http/contract.ts';
import { grantFilters } from './grant-filters.ts';

export const listMcpGrants: Handler<'listMcpGrants', McpLogins> = async (call, reply, logins) => {
  const { page_size: size, page_token: token, ...named } = call.query;
  const filters = grantFilters(named);
  const scope = { environmentId: call.environment.id, list: 'listMcpGrants', filters: { ...filters } };
  const request = readPage(logins.sealedTokens, scope, token, size);
  const page = await logins.store.read.oauthGrants.list(call.environment.id, filters, request);
  return reply(200, {
    grants: page.rows.map(presentMcpGrant),
    ...pageTokens(logins.sealedTokens, scope, page, logins.now()),
    ...totalSize(page),
  });
};
