import type { McpConfigs } from '../../core/capabilities/mcp.ts';
import { requireConfig } from '../../core/mcp/configs.ts';
import { presentMcpConfig } from '../../core/present/mcp-config.ts';
import type { Handler } from '../../http/contract.ts';

export const getMcpConfig: Handler<'getMcpConfig', McpConfigs> = async (call, reply, mcp) => {
  const config = await requireConfig(mcp.store.read, call.environment.id, call.path.config_id);
  return reply(200, { config: presentMcpConfig(config, call.environment) });
};
