import type { Client } from '@modelcontextprotocol/client';
import type { UpstreamFetch } from './upstream-fetch.ts';

/** How long one request of the protocol may take, in milliseconds. */
export const REQUEST_MS = 30_000;

/**
 * Talks to an MCP server in whichever revision it speaks, and ends what was begun. We declare no capability: nothing is asked of us,
 * so no server can reach a model or a user through this service.
 */
export async function withUpstream<T>(
  url: URL,
  { fetch }: UpstreamFetch,
  use: (client: Client) => Promise<T>,
): Promise<T> {
  const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
  const client = new Client(
    { name: 'valetkey', version: '1.0.0' },
    { capabilities: {}, versionNegotiation: { mode: 'auto' } },
  );
  const reconnectionOptions = {
    maxRetries: 0,
    initialReconnectionDelay: 1,
    maxReconnectionDelay: 1,
    reconnectionDelayGrowFactor: 1,
  };
  const transport = new StreamableHTTPClientTransport(url, { fetch, reconnectionOptions });
  try {
    await client.connect(transport, { timeout: REQUEST_MS });
    return await use(client);
  } finally {
    if (transport.sessionId !== undefined) await transport.terminateSession().catch(() => {});
    await client.close().catch(() => {});
  }
}
