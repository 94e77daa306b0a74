import { expect } from 'chai';
import { createAccount } from '../support/accounts.ts';
import { connectMcp, rawMcp, sessionToken } from '../support/mcp.ts';
import { syncTools } from '../support/mcp-provider.ts';
import { type McpUpstream, startEverything } from '../support/mcp-upstream.ts';
import { createProvider } from '../support/providers.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';

const ORIGIN = 'https://everything.example';

describe('an MCP server as a provider: the reference server of the protocol', () => {
  let upstream: McpUpstream;
  let server: TestServer;
  let provider: string;
  let accountId: string;
  let connectionId: string;

  before(async () => {
    upstream = await startEverything();
    server = await startTestServer({ env: { VALETKEY_ENDPOINT_OVERRIDES: upstream.endpointOverride(ORIGIN) } });
    const fields = { display_name: 'Everything', auth_patterns: [{ type: 'NO_AUTH', is_mcp: true }] };
    provider = (await createProvider(server, { ...fields, proxy_url: `${ORIGIN}/mcp` })).identifier;
  });
  after(async () => {
    await server?.stop();
    await upstream?.stop();
  });

  const sync = (body: object = {}) => syncTools(server, provider, body);

  it('has no tools before an account exists that can read them', async () => {
    expect((await sync()).body).to.include({ status: 409, code: 'NO_ACTIVE_ACCOUNT' });
    const account = await createAccount(server, {
      connector: provider,
      userId: 'user-1',
      identifier: 'ada',
      connectedAccount: {},
    });
    expect(account['status']).to.equal('ACTIVE');
    accountId = account.id;
    connectionId = account['connection_id'] as string;
  });

  it('has tools once they were read', async () => {
    const { status, body } = await sync();
    expect(status).to.equal(200);
    expect(body.added).to.include.members(['everything_echo', 'everything_get_sum']);
    expect(body.tools).to.equal(body.added.length);
    expect(body.left_out).to.deep.equal([]);
    const again = (await sync()).body;
    expect(again).to.deep.include({ added: [], flagged: [], accepted: [], removed: [], tools: body.tools });
  });

  it('runs a tool over REST', async () => {
    const { status, body } = await server.call('POST', '/api/v1/execute_tool', {
      body: { tool_name: 'everything_echo', tool_input: { message: 'hello' }, connected_account_id: accountId },
    });
    expect(status, JSON.stringify(body)).to.equal(200);
    expect(body.data.content[0].text).to.contain('hello');
    const execution = await server.call('GET', `/api/v1/executions/${body.execution_id}`);
    expect(execution.body.execution).to.include({ tool_name: 'everything_echo', connector: provider });
  });

  it('previews a call', async () => {
    const { body } = await server.call('POST', '/api/v1/execute_tool', {
      body: {
        tool_name: 'everything_echo',
        tool_input: { message: 'hello' },
        connected_account_id: accountId,
        dry_run: true,
      },
    });
    expect(body.dry_run_request).to.deep.include({ method: 'POST', url: `${ORIGIN}/mcp` });
    expect(body.dry_run_request.body.params).to.deep.equal({ name: 'echo', arguments: { message: 'hello' } });
  });

  it('refuses an invalid input before anything is sent', async () => {
    const { body } = await server.call('POST', '/api/v1/execute_tool', {
      body: { tool_name: 'everything_get_sum', tool_input: { a: 'one' }, connected_account_id: accountId },
    });
    expect(body).to.include({ status: 400, code: 'INVALID_TOOL_INPUT' });
  });

  it('is offered and runs over our own MCP server, without HTTP tools', async () => {
    const token = await sessionToken(server, connectionId, { user_id: 'user-1', identifier: 'ada' });
    const client = await connectMcp(server, connectionId, token);
    const names = (await client.listTools()).tools.map(({ name }) => name);
    expect(names).to.include('everything_echo');
    expect(names.filter((name) => name.startsWith('http_'))).to.deep.equal([]);
    await client.close();
    const params = { name: 'everything_get_sum', arguments: { a: 2, b: 3 } };
    const { body } = await rawMcp(server, connectionId, { token, method: 'tools/call', params });
    expect(JSON.stringify(body.result.structuredContent.data)).to.contain('5');
  });

  it('is deleted with its tools', async () => {
    const gone = (
      await createProvider(server, {
        display_name: 'Everything again',
        auth_patterns: [{ type: 'NO_AUTH', is_mcp: true }],
        proxy_url: `${ORIGIN}/mcp`,
      })
    ).identifier;
    await createAccount(server, { connector: gone, connectedAccount: {} });
    await syncTools(server, gone);
    await server.call('DELETE', `/api/v1/custom-providers/${gone}`);
    const { body } = await server.call('POST', '/api/v1/execute_tool', {
      body: { tool_name: 'everything_again_echo', tool_input: {}, connected_account_id: accountId },
    });
    expect(body.code).to.equal('NOT_FOUND');
  });
});
