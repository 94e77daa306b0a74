import type { ClientCapabilities } from '@modelcontextprotocol/client';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { TestResponse, TestServer } from './server.ts';

export const REVISIONS = ['2025-11-25', '2026-07-28'] as const;
export type Revision = (typeof REVISIONS)[number];

export interface McpUserOptions {
  identifier?: string;
  user_id?: string;
  organization_id?: string;
  user_verify_url?: string;
  lifetime_seconds?: number;
}

/** Requests a session token, by default for one fixed user. */
export function requestSession(
  server: Pick<TestServer, 'call'>,
  serverId: string,
  user: McpUserOptions = {},
  as: { token?: string } = {},
): Promise<TestResponse> {
  const body = { server_id: serverId, user_id: 'user-1', identifier: 'ada@acme.test', ...user };
  return server.call('POST', '/api/v1/mcp/session_tokens', { body, ...as });
}

export async function sessionToken(
  server: Pick<TestServer, 'call'>,
  serverId: string,
  user: McpUserOptions = {},
): Promise<string> {
  const answer = await requestSession(server, serverId, user);
  if (answer.status !== 201) throw new Error(`no session token was made: ${answer.text}`);
  return answer.body.token;
}

/** A server's request to the user to open a link. */
export interface Asked {
  message: string;
  url: string;
}

export interface TestMcpClientOptions {
  revision?: Revision;
  capabilities?: ClientCapabilities;
  /** The user's reaction to a request to open a link; without it the client does not support such requests. */
  onLink?: (asked: Asked) => Promise<'accept' | 'decline' | 'cancel'>;
}

/** Connects a client of the protocol's own package to one of our MCP servers. */
export async function connectMcp(
  server: Pick<TestServer, 'origin'>,
  serverId: string,
  token: string,
  { revision = '2026-07-28', capabilities = {}, onLink }: TestMcpClientOptions = {},
): Promise<Client> {
  const client = new Client(
    { name: 'test', version: '1' },
    {
      capabilities: { ...capabilities, ...(onLink && { elicitation: { url: {} } }) },
      versionNegotiation: { mode: revision === '2025-11-25' ? 'legacy' : { pin: revision } },
    },
  );
  if (onLink) {
    client.setRequestHandler('elicitation/create', async ({ params }) => ({
      action: await onLink(params as unknown as Asked),
    }));
  }
  const headers = { authorization: `Bearer ${token}` };
  const url = new URL(`${server.origin}/mcp/${serverId}`);
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
  return client;
}

/** Sends a raw HTTP request to an MCP server, by default in the newer revision. */
export function rawMcp(
  server: Pick<TestServer, 'call'>,
  serverId: string,
  {
    token = null,
    headers = {},
    method = 'tools/list',
    params = {},
  }: {
    token?: string | null;
    headers?: Record<string, string>;
    method?: string;
    params?: Record<string, unknown>;
  } = {},
): Promise<TestResponse> {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
    'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
    ...(params['_meta'] as object | undefined),
  };
  return server.call('POST', `/mcp/${serverId}`, {
    token,
    body: { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } },
    headers: {
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...(typeof params['name'] === 'string' && { 'mcp-name': params['name'] }),
      ...headers,
    },
  });
}
