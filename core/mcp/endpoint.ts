import type { McpServerFactory } from '@modelcontextprotocol/server';
import type { McpEndpointOptions, McpExchange } from './exchange.ts';
import { createHandshakeSessions } from './handshake-sessions.ts';
import { loadServerSdk } from './load-sdk.ts';
import { createOpenStreams } from './open-streams.ts';
import { createSubscriptions } from './subscriptions.ts';

export interface McpEndpoint {
  serve(request: Request, exchange: McpExchange): Promise<Response>;
  /** Aborts the requests that are being handled. */
  close(): Promise<void>;
}

/**
 * Serves MCP over Streamable HTTP on one address, in the revisions 2026-07-28 and 2025-11-25. Requests of the newer
 * revision contain the revision and the client's name and capabilities in `_meta`. Clients of the older revision begin
 * with a handshake, and later requests contain a session id. A request of the older revision without a session is also
 * served, but the server then does not know the client's capabilities.
 *
 * The MCP SDK is loaded with the first request, because most deployments serve only the REST API.
 *
 * @param factory creates the server object of the MCP SDK for one request, or for one session
 */
export async function createMcpEndpoint(factory: McpServerFactory, options: McpEndpointOptions): Promise<McpEndpoint> {
  const sdk = await loadServerSdk();
  const { onError, now } = options;
  const streams = createOpenStreams(now);
  const subscriptions = createSubscriptions(streams, options.changes);
  const modern = sdk.createMcpHandler(factory, {
    legacy: 'reject',
    onerror: onError,
    bus: subscriptions.bus,
    // `createOpenStreams` limits the streams instead, per user and per environment.
    maxSubscriptions: Number.MAX_SAFE_INTEGER,
  });
  const stateless = sdk.legacyStatelessFallback(factory, onError);
  const sessions = createHandshakeSessions(sdk, factory, streams, options);
  return {
    async serve(request, exchange) {
      const { auth: authInfo, parsedBody } = exchange;
      const given = { authInfo, ...(parsedBody !== undefined && { parsedBody }) };
      if (!(await sdk.isLegacyRequest(request, parsedBody))) {
        return subscriptions.serve(exchange, () => modern.fetch(request, given));
      }
      if (sessions.takes(request, parsedBody)) return sessions.serve(request, exchange);
      return stateless(request, given);
    },
    async close() {
      await Promise.all([modern.close(), sessions.close()]);
    },
  };
}
