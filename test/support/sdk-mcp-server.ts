import { randomUUID } from 'node:crypto';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { NodeStreamableHTTPServerTransport, toNodeHandler } from '@modelcontextprotocol/node';
import * as sdk from '@modelcontextprotocol/server';
import type { Revision } from './mcp.ts';
import type { McpUpstream } from './mcp-upstream.ts';

/** The outcomes of the calls of the tool `wait`. */
export interface Waits {
  begun: number;
  cancelled: number;
}

/**
 * Starts an MCP server that is made with the protocol's package and supports one revision; in the older one, it uses
 * sessions. Its tool `count` reports its progress three times, and `wait` lasts until its client cancels.
 */
export async function startSdkServer(revision: Revision, waits: Waits): Promise<McpUpstream & { origin: string }> {
  const server = createServer(
    revision === '2026-07-28'
      ? (toNodeHandler(sdk.createMcpHandler(() => toolServer(waits), { legacy: 'reject' })) as RequestListener)
      : withSessions(waits),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    endpointOverride: (origin) => `${origin}=http://127.0.0.1:${port}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** The older revision: a transport for each session. */
function withSessions(waits: Waits): RequestListener {
  const sessions = new Map<string, NodeStreamableHTTPServerTransport>();
  return async (req, res) => {
    const known = sessions.get(String(req.headers['mcp-session-id']));
    if (known) return known.handleRequest(req as never, res as never);
    const transport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id: string) => void sessions.set(id, transport),
    });
    await toolServer(waits).connect(transport);
    await transport.handleRequest(req as never, res as never);
  };
}

function toolServer(waits: Waits): sdk.McpServer {
  const server = new sdk.McpServer({ name: 'long', version: '1' });
  const inputSchema = sdk.fromJsonSchema({ type: 'object' } as never);
  server.registerTool('count', { inputSchema }, (async (_input: unknown, { mcpReq }: sdk.ServerContext) => {
    const progressToken = mcpReq._meta?.progressToken;
    for (const progress of progressToken === undefined ? [] : [1, 2, 3]) {
      const params = { progressToken, progress, total: 3, message: `step ${progress}` };
      await mcpReq.notify({ method: 'notifications/progress', params } as never);
    }
    return { content: [{ type: 'text', text: 'counted' }] };
  }) as never);
  server.registerTool('wait', { inputSchema }, ((_input: unknown, { mcpReq }: sdk.ServerContext) => {
    waits.begun += 1;
    const { promise, reject } = Promise.withResolvers<never>();
    mcpReq.signal.addEventListener('abort', () => {
      waits.cancelled += 1;
      reject(new Error('cancelled'));
    });
    return promise;
  }) as never);
  return server;
}
