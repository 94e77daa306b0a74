import { createMcpProvider, type McpProvider } from './mcp-provider.ts';
import { type Answer, listed, type RawMcpServer, startRawMcpServer } from './raw-mcp-server.ts';
import { startTestServer, type TestServer, type TestServerOptions } from './server.ts';

/** The address of the MCP server. */
export const RAW_MCP_ORIGIN = 'https://tools.example';
/** The name under which the tool of the MCP server is stored. */
export const LOOK = 'their_tools_look';

/** An MCP server whose bytes a test chooses, and a Valetkey server with a provider and an account for it. */
export interface RawMcpWorld {
  upstream: RawMcpServer;
  server: TestServer;
  provider: McpProvider;
  /** Responds to the requests of one method; the MCP server responds to all others. */
  on(method: string, respond: Answer): void;
  /** Calls the tool `look` of the MCP server. */
  look(): ReturnType<McpProvider['run']>;
  /** Resets the responses of the MCP server, and clears its recorded requests. */
  reset(): void;
  stop(): Promise<void>;
}

export async function startRawMcpWorld({
  token,
  env = {},
  ...options
}: { token?: string } & TestServerOptions = {}): Promise<RawMcpWorld> {
  const upstream = await startRawMcpServer();
  upstream.tools = [listed('look')];
  const overrides = { VALETKEY_ENDPOINT_OVERRIDES: upstream.endpointOverride(RAW_MCP_ORIGIN) };
  const server = await startTestServer({ ...options, env: { ...overrides, ...env } });
  const provider = await createMcpProvider(server, `${RAW_MCP_ORIGIN}/mcp`, token === undefined ? {} : { token });
  await provider.sync();
  return {
    upstream,
    server,
    provider,
    on: (method, respond) => {
      upstream.on = (request, res) => (request.message?.method === method ? respond(request, res) : false);
    },
    look: () => provider.run(LOOK),
    reset: () => {
      upstream.on = () => false;
      upstream.requests.length = 0;
    },
    async stop() {
      await server.stop();
      await upstream.stop();
    },
  };
}
