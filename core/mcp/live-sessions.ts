import type {
  AuthInfo,
  McpServerFactory,
  Server,
  WebStandardStreamableHTTPServerTransport as Transport,
} from '@modelcontextprotocol/server';
import type { ListKind } from './list-changes.ts';
import type { Handshake } from './session-id.ts';

type Sdk = typeof import('@modelcontextprotocol/server');

/** A session with running requests: its server, and the number of requests. */
interface Live {
  restored: Promise<{ transport: Transport; server: Server }>;
  requests: number;
}

/** A session that a request has joined. */
export interface Joined {
  transport: Transport;
  /** Sends a notification on the stream that the client has opened, if there is one. */
  notify(method: `notifications/${ListKind}/list_changed`): void;
  leave(): void;
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
 * or the client's response to a request of the server, arrives in a separate HTTP request. A server is removed when its
 * last request ends, so the number of open requests limits the memory of sessions.
 */
export function createLiveSessions(sdk: Sdk, factory: McpServerFactory, onError: (error: Error) => void) {
  const sessions = new Map<string, Live>();

  /** Creates the server of a session in its state after the handshake, by repeating the handshake. */
  async function restore({ id, handshake, request, auth: authInfo }: SessionRequest) {
    const transport = new sdk.WebStandardStreamableHTTPServerTransport({ sessionIdGenerator: () => id });
    const made = await factory({ era: 'legacy', authInfo, requestInfo: request });
    await made.connect(transport);
    const server = 'server' in made ? made.server : made;
    const params = { ...handshake, clientInfo: { name: 'client', version: '0' } };
    const parsedBody = { jsonrpc: '2.0', id: 'handshake', method: 'initialize', params };
    const again = new Request(request.url, { method: 'POST', headers: MEDIA_TYPES });
    await (await transport.handleRequest(again, { authInfo, parsedBody })).text();
    return { transport, server };
  }

  return {
    /**
     * Adds a request to its session, and creates the session's server if no other request is running. Call `leave`
     * once, when the request has ended.
     */
    async join(request: SessionRequest): Promise<Joined> {
      const { id } = request;
      const live = sessions.get(id) ?? { restored: restore(request), requests: 0 };
      sessions.set(id, live);
      live.requests++;
      const leave = () => {
        if (--live.requests > 0) return;
        if (sessions.get(id) === live) sessions.delete(id);
        void live.restored.then(({ transport }) => transport.close()).catch(onError);
      };
      try {
        const { transport, server } = await live.restored;
        const notify: Joined['notify'] = (method) => void server.notification({ method }).catch(onError);
        return { transport, notify, leave };
      } catch (error) {
        leave();
        throw error;
      }
    },

    /** Ends the running requests of a session. */
    async end(id: string): Promise<void> {
      const live = sessions.get(id);
      sessions.delete(id);
      await live?.restored.then(({ transport }) => transport.close());
    },

    async close(): Promise<void> {
      const open = [...sessions.values()];
      sessions.clear();
      await Promise.allSettled(open.map(async ({ restored }) => (await restored).transport.close()));
    },
  };
}
