import type { McpLogins } from '../../core/capabilities/mcp-logins.ts';
import { requireFound } from '../../core/errors.ts';
import { endGrant } from '../../core/mcp-login/grants.ts';
import type { Handler } from '../../http/contract.ts';

export const revokeMcpGrant: Handler<'revokeMcpGrant', McpLogins> = (call, reply, logins) =>
  call.commit(async (tx) => {
    const grant = requireFound(await tx.oauthGrants.get(call.environment.id, call.path.grant_id), 'The grant');
    await endGrant(tx, logins, grant, 'REVOKED_BY_API', call.cause);
    return reply(200, {});
  });
