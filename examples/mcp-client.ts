/**
 * An MCP client for one user: it lists the available tools and calls one. The address and the token come from the
 * application's server, which requests them from Valetkey (`createMcpSessionToken`); this client never sees an API
 * client or a credential.
 */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

const { MCP_URL = '', MCP_TOKEN = '' } = process.env;

const client = new Client(
  { name: 'example', version: '1.0.0' },
  { capabilities: { elicitation: { url: {} } }, versionNegotiation: { mode: 'auto' } },
);

// If an account is missing, the server asks to send the user to a link. An agent would open it in the user's browser.
client.setRequestHandler('elicitation/create', async ({ params }) => {
  console.log(params.message, 'url' in params ? params.url : '');
  return { action: 'cancel' };
});

const headers = { authorization: `Bearer ${MCP_TOKEN}` };
await client.connect(new StreamableHTTPClientTransport(new URL(MCP_URL), { requestInit: { headers } }));

const { tools } = await client.listTools();
console.log(`${tools.length} tools: ${tools.map(({ name }) => name).join(', ')}`);

const { structuredContent, isError } = await client.callTool({ name: 'http_get', arguments: { path: '/notes' } });
console.log(isError ? 'failed:' : 'result:', structuredContent);

await client.close();
