import type { McpConfigs } from '../../core/capabilities/mcp.ts';
import { requireConfig, updateConfig } from '../../core/mcp/configs.ts';
import { presentMcpConfig } from '../../core/present/mcp-config.ts';
import type { Handler } from '../../http/contract.ts';

export const updateMcpConfig: Handler<'updateMcpConfig', McpConfigs> = (call, reply, mcp) =>
  call.commit(async (tx) => {
    const before = await requireConfig(tx, call.environment.id, call.path.config_id);
    const config = await updateConfig(tx, mcp, before, call.body);
    await mcp.events.emit(tx, call.cause, {
      type: 'mcp_config.updated',
      subject: config.id,
      details: { fields: Object.keys(call.body) },
      data: async (show) => ({ config: await show.mcpConfig(config) }),
    });
    return reply(200, { config: presentMcpConfig(config, call.environment) });
  });
