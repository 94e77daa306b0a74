import type { McpConfigs } from '../../core/capabilities/mcp.ts';
import { createConfig } from '../../core/mcp/configs.ts';
import { presentMcpConfig } from '../../core/present/mcp-config.ts';
import type { Handler } from '../../http/contract.ts';

export const createMcpConfig: Handler<'createMcpConfig', McpConfigs> = (call, reply, mcp) =>
  call.commit(async (tx) => {
    const config = await createConfig(tx, mcp, call.environment.id, call.body);
    await mcp.events.emit(tx, call.cause, {
      type: 'mcp_config.created',
      subject: config.id,
      data: async (show) => ({ config: await show.mcpConfig(config) }),
    });
    return reply(201, { config: presentMcpConfig(config, call.environment) });
  });
