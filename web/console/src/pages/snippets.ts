/** A tool call, which is shown as code for each kind of client. */
export interface Call {
  baseUrl: string;
  toolName: string;
  toolInput: Record<string, unknown>;
  accountId: string;
}

const shell = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

function bodyOf({ toolName, toolInput, accountId }: Call) {
  return { tool_name: toolName, tool_input: toolInput, connected_account_id: accountId || 'ca_…' };
}

export const SNIPPETS: Record<string, (call: Call) => string> = {
  curl: (call) =>
    [
      `curl -s ${call.baseUrl}/api/v1/execute_tool \\`,
      '  -H "Authorization: Bearer $TOKEN" \\',
      '  -H "Content-Type: application/json" \\',
      `  -d ${shell(JSON.stringify(bodyOf(call), null, 2))}`,
    ].join('\n'),
  TypeScript: (call) =>
    [
      "import createClient from 'openapi-fetch';",
      "import type { paths } from './api.d.ts'; // openapi-typescript <server>/openapi.json",
      '',
      `const api = createClient<paths>({ baseUrl: ${JSON.stringify(call.baseUrl)}, headers: { authorization: \`Bearer \${token}\` } });`,
      "const { data, error } = await api.POST('/api/v1/execute_tool', {",
      `  body: ${JSON.stringify(bodyOf(call), null, 2).replaceAll('\n', '\n  ')},`,
      '});',
    ].join('\n'),
  Python: (call) =>
    [
      'import json',
      'import httpx',
      '',
      'response = httpx.post(',
      `    ${JSON.stringify(`${call.baseUrl}/api/v1/execute_tool`)},`,
      '    headers={"Authorization": f"Bearer {token}"},',
      `    json=json.loads(r"""${JSON.stringify(bodyOf(call), null, 2)}"""),`,
      ')',
      'response.raise_for_status()',
      'print(response.json()["data"])',
    ].join('\n'),
  MCP: (call) =>
    JSON.stringify(
      { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: call.toolName, arguments: call.toolInput } },
      null,
      2,
    ),
};
