import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A message of the protocol. */
export interface RawMessage {
  id?: number | string;
  method: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into parameters of every shape
  params: any;
}

/** A request as the server received it. */
export interface RawRequest {
  method: string;
  headers: IncomingMessage['headers'];
  path: string;
  /** Undefined for GET and DELETE. */
  message: RawMessage | undefined;
}

export type Answer = (request: RawRequest, res: ServerResponse) => unknown;

/** An MCP server of the revision 2025-11-25 whose bytes a test chooses. */
export interface RawMcpServer {
  /** Returns the value of VALETKEY_ENDPOINT_OVERRIDES that directs an https origin here. */
  endpointOverride(origin: string): string;
  requests: RawRequest[];
  /** Responds to a request; returns false to let the server respond. */
  on: Answer;
  /** The tools that it lists. */
  tools: unknown[];
  /** The id of each session; null for a server without sessions. */
  sessionId: string | null;
  /** Returns the requests of a JSON-RPC method, or of an HTTP method. */
  of(method: string): RawRequest[];
  stop(): Promise<void>;
}

export async function startRawMcpServer(): Promise<RawMcpServer> {
  const listener = createServer(async (req, res) => {
    const pieces: Buffer[] = [];
    for await (const piece of req) pieces.push(piece as Buffer);
    const text = Buffer.concat(pieces).toString();
    const message = text === '' ? undefined : (JSON.parse(text) as RawMessage);
    const request = { method: req.method ?? '', headers: req.headers, path: req.url ?? '', message };
    server.requests.push(request);
    if ((await server.on(request, res)) === false) usual(request, res);
  });

  function usual({ method, message }: RawRequest, res: ServerResponse): unknown {
    if (method !== 'POST' || !message) return res.writeHead(method === 'DELETE' ? 200 : 405).end();
    switch (message.method) {
      case 'initialize': {
        if (server.sessionId !== null) res.setHeader('mcp-session-id', server.sessionId);
        const { protocolVersion } = message.params;
        return result(res, message, {
          protocolVersion,
          capabilities: { tools: {} },
          serverInfo: { name: 'raw', version: '1' },
        });
      }
      case 'tools/list':
        return result(res, message, { tools: server.tools });
      case 'tools/call':
        return result(res, message, { content: [{ type: 'text', text: 'done' }] });
      case 'server/discover':
        return json(res, 200, { jsonrpc: '2.0', id: message.id, error: { code: -32601, message: 'Method not found' } });
      default:
        return res.writeHead(202).end();
    }
  }

  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const { port } = listener.address() as AddressInfo;
  const server: RawMcpServer = {
    endpointOverride: (origin) => `${origin}=http://127.0.0.1:${port}`,
    requests: [],
    on: () => false,
    tools: [],
    sessionId: 'session-1',
    of: (method) => server.requests.filter((request) => (request.message?.method ?? request.method) === method),
    stop: () =>
      new Promise((resolve) => {
        listener.close(() => resolve());
        listener.closeAllConnections();
      }),
  };
  return server;
}

export function json(res: ServerResponse, status: number, body: unknown): void {
  res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

export function result(res: ServerResponse, { id }: RawMessage, value: unknown): void {
  json(res, 200, { jsonrpc: '2.0', id, result: value });
}

/** Starts a stream of events. */
export function events(res: ServerResponse): void {
  res.writeHead(200, { 'content-type': 'text/event-stream' });
}

/** Writes an event with a message. */
export function event(res: ServerResponse, message: object, id?: string): void {
  res.write(`${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`);
}

/** A tool as a server lists it. */
export function listed(name: string, more: object = {}): object {
  return { name, description: `Does ${name}.`, inputSchema: { type: 'object' }, ...more };
}
