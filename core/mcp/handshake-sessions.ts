import type {
  AuthInfo,
  McpServerFactory,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { LRUCache } from 'lru-cache';
import type { McpEndpointOptions, McpExchange } from './exchange.ts';

type Sdk = typeof import('@modelcontextprotocol/server');

interface Session {
  owner: string;
  transport: WebStandardStreamableHTTPServerTransport;
}

/** A client that comes back later is told 404, and begins anew (2025-11-25, Session Management). */
const IDLE_MS = 30 * 60 * 1000;
const MAX_SESSIONS = 1000;
const HEADER = 'mcp-session-id';
const ID_BYTES = 32;

/**
 * The sessions of the revision 2025-11-25, which remember from the handshake what a client can do. They live in this process: bounded
 * in number and in idle time, the longest unused ends first. A session is bound to who began it (threat M4).
 */
export function createHandshakeSessions(sdk: Sdk, factory: McpServerFactory, options: McpEndpointOptions) {
  const sessions = new LRUCache<string, Session>({
    max: MAX_SESSIONS,
    ttl: IDLE_MS,
    ttlResolution: 0,
    updateAgeOnGet: true,
    perf: { now: options.now },
    dispose: ({ transport }) => void transport.close().catch(options.onError),
  });

  async function begin(request: Request, authInfo: AuthInfo, { owner, parsedBody }: McpExchange): Promise<Response> {
    const transport = new sdk.WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => options.random(ID_BYTES).toString('base64url'),
      onsessioninitialized: (id) => void sessions.set(id, { owner, transport }),
      onsessionclosed: (id) => void sessions.delete(id),
    });
    const server = await factory({ era: 'legacy', authInfo, requestInfo: request });
    await server.connect(transport);
    return transport.handleRequest(request, { authInfo, parsedBody });
  }

  return {
    /** Whether a request names a session, or begins one. */
    takes: (request: Request, parsedBody: unknown): boolean =>
      request.headers.has(HEADER) || (request.method === 'POST' && sdk.isInitializeRequest(parsedBody)),

    async serve(request: Request, exchange: McpExchange): Promise<Response> {
      const { auth: authInfo, parsedBody } = exchange;
      const id = request.headers.get(HEADER);
      if (id === null) return begin(request, authInfo, exchange);
      const session = sessions.get(id);
      // Somebody else's session is no session: nothing tells the two apart.
      if (session?.owner !== exchange.owner) return noSession();
      return session.transport.handleRequest(request, { authInfo, ...(parsedBody !== undefined && { parsedBody }) });
    },

    async close(): Promise<void> {
      const open = [...sessions.values()];
      sessions.clear();
      await Promise.all(open.map(({ transport }) => transport.close().catch(options.onError)));
    },
  };
}

function noSession(): Response {
  const error = { code: -32001, message: 'There is no such session; begin a new one.' };
  return Response.json({ jsonrpc: '2.0', error, id: null }, { status: 404 });
}
