import type { Client } from '@modelcontextprotocol/client';
import { MCP_UPSTREAM } from '../../budgets.ts';
import { programVersion } from '../../program-version.ts';
import { loadClientSdk } from '../load-sdk.ts';
import { createWire, type WireParts } from './wire.ts';
import type { WireCall } from './wire-call.ts';

/** A server that was connected to, and how it is let go. */
export interface UpstreamConnection {
  client: Client;
  wire: ReturnType<typeof createWire>;
  /** True when the server gave the connection a session (2025-11-25), which it may forget. */
  hasSession(): boolean;
  /**
   * Ends the connection.
   *
   * @param tell whether the server is told that its session has ended
   */
  close(tell: boolean): Promise<void>;
}

/**
 * Connects to an MCP server in whichever revision it speaks. We declare no capability: nothing is asked of us, so no server can reach a
 * model or a user through this service.
 *
 * @param connecting gets the outcome of the last request of the handshake
 * @throws what the protocol's package throws; `upstreamFailure` explains it together with `connecting`
 */
export async function connectUpstream(url: URL, parts: WireParts, connecting: WireCall): Promise<UpstreamConnection> {
  const { Client, StreamableHTTPClientTransport } = await loadClientSdk();
  const client = new Client(
    { name: 'valetkey', version: programVersion() },
    { capabilities: {}, versionNegotiation: { mode: 'auto' } },
  );
  const wire = createWire(parts, connecting);
  // Streams that end early are continued by the wire.
  const reconnectionOptions = {
    maxRetries: 0,
    initialReconnectionDelay: 1,
    maxReconnectionDelay: 1,
    reconnectionDelayGrowFactor: 1,
  };
  const transport = new StreamableHTTPClientTransport(url, { fetch: wire.fetch, reconnectionOptions });
  const hasSession = () => transport.sessionId !== undefined;
  const close = async (tell: boolean) => {
    if (tell && hasSession()) await transport.terminateSession().catch(() => {});
    await client.close().catch(() => {});
  };
  try {
    await client.connect(transport, { timeout: MCP_UPSTREAM.requestMs });
  } catch (error) {
    await close(false);
    throw error;
  }
  return { client, wire, hasSession, close };
}
