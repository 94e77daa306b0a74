import type { McpLogins } from '../../core/capabilities/mcp-logins.ts';
import { endGrants } from '../../core/mcp-login/grants.ts';
import type { Handler } from '../../http/contract.ts';
import { grantFilters } from './grant-filters.ts';

export const revokeMcpGrants: Handler<'revokeMcpGrants', McpLogins> = (call, reply, logins) =>
  call.commit(async (tx) => {
    const filters = grantFilters(call.body);
    const revoked = await endGrants(tx, logins, call.environment.id, filters, 'REVOKED_BY_API', call.cause);
    return reply(200, { revoked });
  });
