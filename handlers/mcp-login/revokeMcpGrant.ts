import type { McpLogins } from '../../core/capabilities/mcp-logins.ts';
import { ApiError } from '../../core/errors.ts';
import { endGrant } from '../../core/mcp-login/grants.ts';
import type { Handler } from '../../http/contract.ts';

export const revokeMcpGrant: Handler<'revokeMcpGrant', McpLogins> = (call, reply, logins) =>
  call.commit(async (tx) => {
    const grant = await tx.oauthGrants.get(call.environment.id, call.path.grant_id);
    if (!grant) throw new ApiError('NOT_FOUND', 'The grant does not exist.');
    await endGrant(tx, logins, grant, 'REVOKED_BY_API', call.cause);
    return reply(200, {});
  });
