import type { McpServerFactory } from '@modelcontextprotocol/server';
import type { McpEndpointOptions, McpExchange } from './exchange.ts';
import { createLiveSessions } from './live-sessions.ts';
import type { OpenStreams } from './open-streams.ts';
import { sessionOf } from './session.ts';
import { sealSessionId } from './session-id.ts';

type Sdk = typeof import('@modelcontextprotocol/server');

const HEADER = 'mcp-session-id';

/**
 * Handles the sessions of the revision 2025-11-25. The server does not store sessions between requests: the encrypted
 * session id contains the data of the handshake.
 */
export function createHandshakeSessions(
  sdk: Sdk,
  factory: McpServerFactory,
  streams: OpenStreams,
  { sealed, now, known, changes, onError }: McpEndpointOptions,
) {
  const live = createLiveSessions(sdk, factory, onError);

  async function begin(request: Request, { auth: authInfo, owner, parsedBody }: McpExchange): Promise<Response> {
    const { params } = parsedBody as { params?: unknown };
    const transport = new sdk.WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => sealSessionId(sealed, owner, params, now()),
    });
    const server = await factory({ era: 'legacy', authInfo, requestInfo: request });
    await server.connect(transport);
    return transport.handleRequest(request, { authInfo, parsedBody });
  }

  return {
    /** Whether a request names a session or starts one. */
    takes: (request: Request, parsedBody: unknown): boolean =>
      request.headers.has(HEADER) || (request.method === 'POST' && sdk.isInitializeRequest(parsedBody)),

    async serve(request: Request, exchange: McpExchange): Promise<Response> {
      const { auth, owner, parsedBody } = exchange;
      const id = request.headers.get(HEADER);
      if (id === null) return begin(request, exchange);
      const handshake = known.open(owner, id);
      if (handshake === null) return noSession();
      if (request.method === 'DELETE') {
        known.end(id);
        await live.end(id);
        return new Response(null, { status: 200 });
      }
      const isStream = request.method === 'GET';
      if (isStream && !streams.take(exchange)) return noStream();
      const { transport, notify, leave } = await live.join({ id, handshake, request, auth });
      exchange.onEnd(leave);
      const watch = isStream ? await changes?.watch(sessionOf(auth)) : undefined;
      if (watch) {
        watch.changed = (kind) => notify(`notifications/${kind}/list_changed`);
        exchange.onEnd(watch.stop);
      }
      return transport.handleRequest(request, { authInfo: auth, ...(parsedBody !== undefined && { parsedBody }) });
    },

    close: () => live.close(),
  };
}

/** The response is the same for an unknown id, an ended session and the session of another user. */
function noSession(): Response {
  return refusal(404, -32001, 'The session does not exist. Start a new one.');
}

function noStream(): Response {
  return refusal(405, -32000, 'Too many streams are open. Continue without a stream.');
}

function refusal(status: number, code: number, message: string): Response {
  const allow = status === 405 ? { headers: { allow: 'POST, DELETE' } } : {};
  return Response.json({ jsonrpc: '2.0', error: { code, message }, id: null }, { status, ...allow });
}
