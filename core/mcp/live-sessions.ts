import type {
  AuthInfo,
  McpServerFactory,
  WebStandardStreamableHTTPServerTransport as Transport,
} from '@modelcontextprotocol/server';
import type { Handshake } from './session-id.ts';

type Sdk = typeof import('@modelcontextprotocol/server');

/** A session with running requests: its server, and the number of requests. */
interface Live {
  transport: Promise<Transport>;
  requests: number;
}

/** A request of a session. */
export interface SessionRequest {
  id: string;
  handshake: Handshake;
  request: Request;
  auth: AuthInfo;
}

const MEDIA_TYPES = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };

/**
 * Keeps the servers of sessions with running requests. Requests of one session share a server, because a cancellation,
 * or the response to a question of the server, arrives in a separate request. A server is removed when its last request
 * ends, so the number of open requests limits the memory of sessions.
 */
export function createLiveSessions(sdk: Sdk, factory: McpServerFactory, onError: (error: Error) => void) {
  const sessions = new Map<string, Live>();

  /** Creates the server of a session in its state after the handshake, by repeating the handshake. */
  async function restore({ id, handshake, request, auth: authInfo }: SessionRequest): Promise<Transport> {
    const transport = new sdk.WebStandardStreamableHTTPServerTransport({ sessionIdGenerator: () => id });
    const server = await factory({ era: 'legacy', authInfo, requestInfo: request });
    await server.connect(transport);
    const params = { ...handshake, clientInfo: { name: 'client', version: '0' } };
    const parsedBody = { jsonrpc: '2.0', id: 'handshake', method: 'initialize', params };
    const again = new Request(request.url, { method: 'POST', headers: MEDIA_TYPES });
    await (await transport.handleRequest(again, { authInfo, parsedBody })).text();
    return transport;
  }

  return {
    /** Returns the server of a request's session. Call `leave` once, when the request has ended. */
    async join(request: SessionRequest): Promise<{ transport: Transport; leave(): void }> {
      const { id } = request;
      const live = sessions.get(id) ?? { transport: restore(request), requests: 0 };
      sessions.set(id, live);
      live.requests++;
      const leave = () => {
        if (--live.requests > 0) return;
        if (sessions.get(id) === live) sessions.delete(id);
        void live.transport.then((transport) => transport.close()).catch(onError);
      };
      try {
        return { transport: await live.transport, leave };
      } catch (error) {
        leave();
        throw error;
      }
    },

    /** Ends the running requests of a session. */
    async end(id: string): Promise<void> {
      const live = sessions.get(id);
      sessions.delete(id);
      await live?.transport.then((transport) => transport.close());
    },

    async close(): Promise<void> {
      const open = [...sessions.values()];
      sessions.clear();
      await Promise.allSettled(open.map(async ({ transport }) => (await transport).close()));
    },
  };
}
