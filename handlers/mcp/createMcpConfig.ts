import { createConfig } from '../../core/mcp/configs.ts';
import { presentMcpConfig } from '../../core/present/mcp-config.ts';
import type { Handler } from '../../http/contract.ts';

export const createMcpConfig: Handler<'createMcpConfig'> = (call, reply, deps) =>
  call.commit(async (tx) => {
    const config = await createConfig(tx, deps, call.environment.id, call.body);
    await deps.events.mcpConfigCreated(tx, call.cause, config.id);
    return reply(201, { config: presentMcpConfig(config, call.environment) });
  });
