import { createConnection } from './providers.ts';
import type { TestResponse, TestServer } from './server.ts';
import { startTestServer } from './server.ts';

export const MCP_CONFIGS_PATH = '/api/v1/mcp/configs';

/** A server with two connections, and a way to create MCP configs that offer them. */
export interface McpConfigs {
  server: TestServer;
  /** The id of a connection to GitHub. */
  issues: string;
  /** The id of a connection to Slack. */
  chat: string;
  /** Creates a config with a new name, which by default offers the connection to GitHub. */
  create(fields?: Record<string, unknown>): Promise<TestResponse>;
}

/** Starts one server for the whole suite that calls this function. The members are only set in its tests and hooks. */
export function useMcpConfigs(): McpConfigs {
  const shared = {} as McpConfigs;
  before(async () => {
    Object.assign(shared, await startMcpConfigs());
  });
  after(() => shared.server.stop());
  return shared;
}

async function startMcpConfigs(): Promise<McpConfigs> {
  const server = await startTestServer();
  const issues = (await createConnection(server, { connector: 'github' })).id;
  const chat = (await createConnection(server, { connector: 'slack' })).id;
  let created = 0;
  return {
    server,
    issues,
    chat,
    create: (fields = {}) => {
      created += 1;
      const body = { name: `Config ${created}`, mappings: [{ connection_id: issues }], ...fields };
      return server.call('POST', MCP_CONFIGS_PATH, { body });
    },
  };
}
