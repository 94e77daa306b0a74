import type { Client } from '@modelcontextprotocol/client';
import { MCP_UPSTREAM } from '../../budgets.ts';
import { programVersion } from '../../program-version.ts';
import { loadClientSdk } from '../load-sdk.ts';
import { createWire, type WireDeps } from './wire.ts';
import type { WireCall } from './wire-call.ts';

/** A connection to an MCP server. */
export interface UpstreamConnection {
  client: Client;
  wire: ReturnType<typeof createWire>;
  /**
   * Whether the server created a session for the connection (2025-11-25). The server may end the session at any time.
   */
  hasSession(): boolean;
  /**
   * Ends the connection.
   *
   * @param tell whether to ask the server to delete its session, if it created one
   */
  close(tell: boolean): Promise<void>;
}

/**
 * Connects to an MCP server in the newest revision that it supports. Valetkey declares no client capabilities, so a
 * server cannot request input from a model or a user through it.
 *
 * @param connecting the limits of the handshake; its `outcome` is set to the outcome of the last request of the
 * handshake
 * @throws errors of the MCP SDK; if `connecting.outcome` is `failed`, the cause is the error there
 */
export async function connectUpstream(url: URL, deps: WireDeps, connecting: WireCall): Promise<UpstreamConnection> {
  const { Client, StreamableHTTPClientTransport } = await loadClientSdk();
  const client = new Client(
    { name: 'valetkey', version: programVersion() },
    { capabilities: {}, versionNegotiation: { mode: 'auto' } },
  );
  const wire = createWire(deps, connecting);
  // The MCP SDK must not resume streams that end early, because `createWire` does so.
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
