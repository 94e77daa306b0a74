import { createAccount } from './accounts.ts';
import { createProvider } from './providers.ts';
import type { TestResponse, TestServer } from './server.ts';

const BEARER = {
  type: 'BEARER_TOKEN',
  is_mcp: true,
  fields: [{ field_name: 'token', label: 'Token', input_type: 'password', required: true }],
};

/** An MCP server as a provider, and an account of it with a token. */
export interface McpProvider {
  identifier: string;
  accountId: string;
  connectionId: string;
  sync(body?: object): Promise<TestResponse>;
  /** Runs a tool over REST. */
  run(toolName: string, input?: object): Promise<TestResponse>;
  /** Reads the account's current state. */
  account(): Promise<{ status: string; status_reason?: string }>;
}

export async function createMcpProvider(
  server: Pick<TestServer, 'call'>,
  url: string,
  { token = 'upstream-token-0123456789', name = 'Their Tools' }: { token?: string; name?: string } = {},
): Promise<McpProvider> {
  const fields = { display_name: name, auth_patterns: [BEARER], proxy_url: url };
  const { identifier } = await createProvider(server, fields);
  const authorization_details = { static_auth: { details: { token } } };
  const owner = { userId: 'user-1', identifier: 'ada' };
  const account = await createAccount(server, {
    connector: identifier,
    ...owner,
    connectedAccount: { authorization_details },
  });
  const { id } = account;
  return {
    identifier,
    accountId: id,
    connectionId: account['connection_id'] as string,
    sync: (body = {}) => syncTools(server, identifier, body),
    run: (tool_name, tool_input = {}) =>
      server.call('POST', '/api/v1/execute_tool', { body: { tool_name, tool_input, connected_account_id: id } }),
    account: async () => {
      const { body } = await server.call('GET', `/api/v1/connected_accounts/details?id=${id}`);
      return body.connected_account;
    },
  };
}

/** Calls syncProviderTools. */
export function syncTools(
  server: Pick<TestServer, 'call'>,
  identifier: string,
  body: object = {},
  headers: Record<string, string> = {},
): Promise<TestResponse> {
  return server.call('POST', `/api/v1/custom-providers/${identifier}:sync_tools`, { body, headers });
}
