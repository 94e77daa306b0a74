import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The host of an MCP client's document: an https origin for the server under test, plain http on this machine. */
export interface DocumentHost {
  /** The client id, which is the address of the document. */
  clientId: string;
  /** The value of VALETKEY_ENDPOINT_OVERRIDES that directs the https origin here. */
  override: string;
  /** The document; members can be replaced. */
  document: Record<string, unknown>;
  /** Headers of the response. */
  headers: Record<string, string>;
  /** Replaces the default response. */
  respond: ((req: IncomingMessage, res: ServerResponse) => void) | undefined;
  /** The number of requests for the document. */
  requests: number;
  stop(): Promise<void>;
}

export const DOCUMENT_ORIGIN = 'https://client.example';

export async function startDocumentHost(redirectUris: string[]): Promise<DocumentHost> {
  const clientId = `${DOCUMENT_ORIGIN}/oauth/client.json`;
  const server = createServer((req, res) => {
    host.requests += 1;
    if (host.respond) return host.respond(req, res);
    res.writeHead(200, { 'content-type': 'application/json', ...host.headers }).end(JSON.stringify(host.document));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const host: DocumentHost = {
    clientId,
    override: `${DOCUMENT_ORIGIN}=http://127.0.0.1:${port}`,
    document: {
      client_id: clientId,
      client_name: 'Document Client',
      redirect_uris: redirectUris,
      grant_types: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_method: 'none',
    },
    headers: {},
    respond: undefined,
    requests: 0,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return host;
}
