import type { McpConfigs } from '../../core/capabilities/mcp.ts';
import { requireConfig } from '../../core/mcp/configs.ts';
import type { Handler } from '../../http/contract.ts';

export const deleteMcpConfig: Handler<'deleteMcpConfig', McpConfigs> = (call, reply, mcp) =>
  call.commit(async (tx) => {
    const { id } = await requireConfig(tx, call.environment.id, call.path.config_id);
    await tx.mcpConfigs.delete(call.environment.id, id);
    await mcp.events.mcpConfigDeleted(tx, call.cause, id);
    return reply(200, {});
  });
