import type { McpServerFactory } from '@modelcontextprotocol/server';
import type { McpEndpointOptions, McpExchange } from './exchange.ts';
import { createHandshakeSessions } from './handshake-sessions.ts';
import { loadServerSdk } from './load-sdk.ts';

export interface McpEndpoint {
  serve(request: Request, exchange: McpExchange): Promise<Response>;
  /** Ends the requests that are being served. */
  close(): Promise<void>;
}

/**
 * Serves MCP over Streamable HTTP on one address, in the revisions 2026-07-28 and 2025-11-25. A request says itself which one it speaks:
 * the newer carries an envelope in `_meta`, the older begins with a handshake whose session later requests name. A request of the older
 * one without a session is answered as well, by a server that knows nothing of the client.
 *
 * The packages of the protocol are loaded here, with the first request: most servers answer the REST interface alone.
 *
 * @param factory makes the server that answers one request, or one session
 */
export async function createMcpEndpoint(factory: McpServerFactory, options: McpEndpointOptions): Promise<McpEndpoint> {
  const sdk = await loadServerSdk();
  const { onError } = options;
  const modern = sdk.createMcpHandler(factory, { legacy: 'reject', onerror: onError });
  const stateless = sdk.legacyStatelessFallback(factory, onError);
  const sessions = createHandshakeSessions(sdk, factory, options);
  return {
    async serve(request, exchange) {
      const { auth: authInfo, parsedBody } = exchange;
      const given = { authInfo, ...(parsedBody !== undefined && { parsedBody }) };
      if (!(await sdk.isLegacyRequest(request, parsedBody))) return modern.fetch(request, given);
      if (sessions.takes(request, parsedBody)) return sessions.serve(request, exchange);
      return stateless(request, given);
    },
    async close() {
      await Promise.all([modern.close(), sessions.close()]);
    },
  };
}
