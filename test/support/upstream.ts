import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request that a third party received. */
export interface ReceivedRequest {
  method: string;
  /** The request target: path and query. */
  target: string;
  /** Names in lower case; a repeated name is joined by a comma. */
  headers: Record<string, string>;
  /** The names in their original case, in order. */
  headerNames: string[];
  body: string;
}

export type UpstreamHandler = (request: ReceivedRequest, res: ServerResponse, req: IncomingMessage) => unknown;

/** A third-party application on loopback that records its requests. */
export interface Upstream {
  port: number;
  /** Returns the value of VALETKEY_ENDPOINT_OVERRIDES that directs an https origin here. */
  endpointOverride(origin: string): string;
  requests: ReceivedRequest[];
  /** The number of TCP connections that were opened; 0 means that nothing was sent. */
  connections: number;
  /** Sets the response of the application from now on. */
  handler: UpstreamHandler;
  stop(): Promise<void>;
}

/** Responds to every request with 200 and `{}`, until another handler is set. */
export async function startUpstream(
  handler: UpstreamHandler = (_request, res) => json(res, 200, {}),
): Promise<Upstream> {
  const server = createServer(async (req, res) => {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    const request: ReceivedRequest = {
      method: req.method ?? '',
      target: req.url ?? '',
      headers: req.headers as Record<string, string>,
      headerNames: req.rawHeaders.filter((_entry, index) => index % 2 === 0),
      body: Buffer.concat(chunks).toString(),
    };
    upstream.requests.push(request);
    await upstream.handler(request, res, req);
  });
  server.on('connection', () => {
    upstream.connections += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const upstream: Upstream = {
    port,
    endpointOverride: (origin) => `${origin}=http://127.0.0.1:${port}`,
    requests: [],
    connections: 0,
    handler,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return upstream;
}

export function json(res: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  res.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}
