import type { McpConfigs } from '../../core/capabilities/mcp.ts';
import { requireConfig } from '../../core/mcp/configs.ts';
import { endGrants } from '../../core/mcp-login/grants.ts';
import type { Handler } from '../../http/contract.ts';

export const deleteMcpConfig: Handler<'deleteMcpConfig', McpConfigs> = (call, reply, mcp) =>
  call.commit(async (tx) => {
    const config = await requireConfig(tx, call.environment.id, call.path.config_id);
    await tx.mcpConfigs.delete(call.environment.id, config.id);
    await endGrants(tx, mcp, call.environment.id, { serverId: config.id }, 'SERVER_DELETED', call.cause);
    await mcp.events.emit(tx, call.cause, {
      type: 'mcp_config.deleted',
      subject: config.id,
      data: async (show) => ({ config: await show.mcpConfig(config) }),
    });
    return reply(200, {});
  });
