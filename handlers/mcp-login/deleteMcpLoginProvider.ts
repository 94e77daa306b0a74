import type { McpLogins } from '../../core/capabilities/mcp-logins.ts';
import { ApiError } from '../../core/errors.ts';
import type { Handler } from '../../http/contract.ts';

export const deleteMcpLoginProvider: Handler<'deleteMcpLoginProvider', McpLogins> = (call, reply, logins) =>
  call.commit(async (tx) => {
    const provider = await tx.loginProviders.get(call.environment.id);
    if (!provider) throw new ApiError('NOT_FOUND', 'The environment has no login provider.');
    await tx.loginProviders.delete(call.environment.id);
    await logins.events.emit(tx, call.cause, {
      type: 'mcp_login_provider.deleted',
      subject: provider.id,
      data: async (show) => ({ login_provider: await show.mcpLoginProvider(provider) }),
    });
    return reply(200, {});
  });
