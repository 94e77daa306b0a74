/** One request, ready to be sent. */
export interface BenchRequest {
  method: 'GET' | 'POST';
  path: string;
  type?: string;
  body?: string;
  /** Further headers. */
  headers?: Readonly<Record<string, string>>;
  /** Whether the request is sent without an access token. */
  anonymous?: boolean;
}

/** The address and the token of an MCP client. */
export interface McpSubject {
  connectionId: string;
  /** A session token of a user with an account of the connection. */
  mcpToken: string;
}

const JSON_TYPE = 'application/json';
const META = 'io.modelcontextprotocol/';
const TOOL = 'github_get_issue';
const ISSUE = { owner: 'octocat', repo: 'hello-world', issue_number: 42 };
/** The path of the provider that the calls below request. */
const UPSTREAM_PATH = '/repos/octocat/hello-world/issues/42';

/** The request that the tool sends to the provider, to measure the same call without the server. */
export const DIRECT: BenchRequest = { method: 'GET', path: UPSTREAM_PATH };

export function executeTool(accountId: string): BenchRequest {
  const body = JSON.stringify({ tool_name: TOOL, tool_input: ISSUE, connected_account_id: accountId });
  return { method: 'POST', path: '/api/v1/execute_tool', type: JSON_TYPE, body };
}

export function rawCall(accountId: string): BenchRequest {
  return { method: 'GET', path: `/api/v1/proxy${UPSTREAM_PATH}`, headers: { 'valetkey-account-id': accountId } };
}

/** Calls the tool over MCP, revision 2026-07-28. */
export function mcpCall2026(subject: McpSubject): BenchRequest {
  const _meta = {
    [`${META}protocolVersion`]: '2026-07-28',
    [`${META}clientInfo`]: { name: 'bench', version: '1' },
    [`${META}clientCapabilities`]: {},
  };
  const standard = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': TOOL };
  return mcpCall(subject, { _meta }, standard);
}

/** Calls the tool over MCP, revision 2025-11-25. */
export function mcpCall2025(subject: McpSubject): BenchRequest {
  return mcpCall(subject, {}, { 'mcp-protocol-version': '2025-11-25' });
}

function mcpCall(subject: McpSubject, more: object, headers: Record<string, string>): BenchRequest {
  return mcpMessage(subject, 'tools/call', { name: TOOL, arguments: ISSUE, ...more }, headers);
}

export function mcpMessage(
  { connectionId, mcpToken }: McpSubject,
  method: string,
  params: object,
  headers: Record<string, string>,
): BenchRequest {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const accept = `${JSON_TYPE}, text/event-stream`;
  const authorization = `Bearer ${mcpToken}`;
  return {
    method: 'POST',
    path: `/mcp/${connectionId}`,
    type: JSON_TYPE,
    body,
    anonymous: true,
    headers: { accept, authorization, ...headers },
  };
}

/** Obtains a session token for the user of an account. */
export async function mcpSubject(
  port: number,
  token: string,
  connectionId: string,
  user: { organization_id: string; user_id: string; identifier: string },
): Promise<McpSubject> {
  const { organization_id, user_id, identifier } = user;
  const response = await fetch(`http://127.0.0.1:${port}/api/v1/mcp/session_tokens`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': JSON_TYPE, host: 'localhost' },
    body: JSON.stringify({ server_id: connectionId, organization_id, user_id, identifier }),
  });
  if (!response.ok) throw new Error(`no session token: ${response.status} ${await response.text()}`);
  const { token: mcpToken } = (await response.json()) as { token: string };
  return { connectionId, mcpToken };
}
