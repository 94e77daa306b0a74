import * as sdk from '@modelcontextprotocol/server';
import { expect } from 'chai';
import type { AuthorizationServer } from '../support/authorization-server.ts';
import { startAuthorizationServer } from '../support/authorization-server.ts';
import { TestBrowser } from '../support/browser.ts';
import { type TestClock, testClock } from '../support/clock.ts';
import {
  accountOf,
  allowVerifyUrls,
  browserFor,
  makeLink,
  returned,
  startLinkServer,
  submitLink,
  VERIFY_URL,
  verifyUser,
  walk,
} from '../support/links.ts';
import { type ModernServer, startModernServer } from '../support/mcp-upstream.ts';
import { createConnection, createProvider } from '../support/providers.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { json, startUpstream } from '../support/upstream.ts';

const ORIGIN = 'https://files.example';
const RESOURCE = `${ORIGIN}/mcp`;
const PATTERN = { type: 'OAUTH', is_mcp: true };

function filesServer() {
  const server = new sdk.McpServer({ name: 'files', version: '1' }, { capabilities: { tools: {} } });
  const inputSchema = sdk.fromJsonSchema({ type: 'object' } as never);
  server.registerTool('list', { description: 'Lists files.', inputSchema }, (() => ({
    content: [{ type: 'text', text: 'a.txt' }],
  })) as never);
  return server;
}

describe('MCP servers that people sign in to', () => {
  let as: AuthorizationServer;
  let upstream: ModernServer;
  let server: TestServer;
  let clock: TestClock;
  let provider: string;

  before(async () => {
    clock = testClock(Date.now());
    as = await startAuthorizationServer({ resource: RESOURCE });
    upstream = await startModernServer(filesServer);
    upstream.metadata = { resource: RESOURCE, authorization_servers: [as.issuer], scopes_supported: ['files:read'] };
    // It takes tokens of its authorization server alone.
    upstream.refuse = async (authorization = '') =>
      (await as.isAlive(authorization.replace('Bearer ', ''))) ? undefined : 401;
    const overrides = [as.override, upstream.standsFor(ORIGIN)].join(',');
    server = await startLinkServer({ env: { VALETKEY_ENDPOINT_OVERRIDES: overrides }, overrides: { now: clock.now } });
    const fields = { display_name: 'Files', auth_patterns: [PATTERN], proxy_url: RESOURCE };
    provider = (await createProvider(server, fields)).identifier;
  });
  after(async () => {
    await server.stop();
    await upstream.stop();
    await as.stop();
  });

  const run = (id: string, name = 'files_list') =>
    server.call('POST', '/api/v1/execute_tool', {
      body: { tool_name: name, tool_input: {}, connected_account_id: id },
    });

  it('are found out about, registered with and consented to, and their tools run', async () => {
    const link = await makeLink(server, { connector: provider, user_id: 'ada', identifier: 'ada' });
    const { authRequestId } = returned(await walk(browserFor(as), link));
    expect((await verifyUser(server, authRequestId, 'ada')).status).to.equal(200);
    const { id } = (await accountOf(server, 'ada')) as { id: string };
    const synced = await server.call('POST', `/api/v1/custom-providers/${provider}:sync_tools`, { body: {} });
    expect(synced.body.added, synced.text).to.deep.equal(['files_list']);
    const answer = await run(id);
    expect(answer.body.data.content[0].text).to.equal('a.txt');
  });

  it('are asked for tokens for themselves alone (RFC 8707), with proof keys', () => {
    const [exchange] = as.sent('/token');
    expect(exchange).to.include({ resource: RESOURCE, grant_type: 'authorization_code' });
    expect(exchange?.['code_verifier']).to.have.length.above(42);
  });

  it('know the connection by the client that it registered, once', async () => {
    expect(as.hits('/reg')).to.equal(1);
    const link = await makeLink(server, { connector: provider, user_id: 'eve', identifier: 'eve' });
    await walk(browserFor(as), link, 'eve');
    expect(as.hits('/reg')).to.equal(1);
  });

  it('show what was learned of them, without what only engines know', async () => {
    const { body } = await server.call('GET', `/api/v1/custom-providers/${provider}`);
    const [pattern] = body.provider.auth_patterns;
    expect(pattern.oauth_config).to.include({ issuer: as.issuer, token_uri: `${as.issuer}/token` });
    expect(pattern.oauth_config).to.not.have.property('resource');
  });

  it('have their tokens refreshed like those of any provider', async () => {
    const { id } = (await accountOf(server, 'ada')) as { id: string };
    clock.advance(2 * 3600_000);
    upstream.seen.length = 0;
    expect((await run(id)).body.data.content[0].text).to.equal('a.txt');
    const refresh = as.sent('/token').at(-1);
    expect(refresh).to.include({ grant_type: 'refresh_token', resource: RESOURCE });
    expect(new Set(upstream.seen.map(({ authorization }) => authorization)).size).to.equal(1);
  });

  it('that speak of another resource are not believed (P7)', async () => {
    const before = upstream.metadata;
    upstream.metadata = { resource: 'https://bank.example/mcp', authorization_servers: [as.issuer] };
    const fields = { display_name: 'Liar', auth_patterns: [PATTERN], proxy_url: RESOURCE };
    const { identifier } = await createProvider(server, fields);
    const hits = as.hits('/auth');
    const page = await submitLink(new TestBrowser(), await makeLink(server, { connector: identifier }));
    expect(page.status).to.equal(502);
    expect(as.hits('/auth')).to.equal(hits);
    upstream.metadata = before;
  });

  it('take the client that an operator has registered by hand', async () => {
    const fields = { display_name: 'By hand', auth_patterns: [PATTERN], proxy_url: RESOURCE };
    const { identifier } = await createProvider(server, fields);
    const client = { client_id: 'by-hand', client_secret: 'secret-of-the-client-by-hand' };
    const connection = await createConnection(server, { connector: identifier, ...client });
    await as.register({ ...client, redirect_uris: [`${server.origin}/oauth/callback/${connection.id}`] });
    const registrations = as.hits('/reg');
    const link = await makeLink(server, { connector: connection.key_id, identifier: 'bob', user_id: 'bob' });
    const { authRequestId } = returned(await walk(browserFor(as), link, 'bob'));
    expect((await verifyUser(server, authRequestId, 'bob')).status).to.equal(200);
    expect(as.hits('/reg')).to.equal(registrations);
  });
});

describe('an authorization server that reads what its clients say of themselves', () => {
  it('is given the address of a document, which is served (client id metadata document)', async () => {
    const issuer = 'https://as.example';
    const upstream = await startUpstream((request, res) => {
      if (request.target.startsWith('/.well-known/oauth-protected-resource')) {
        return json(res, 200, { resource: RESOURCE, authorization_servers: [issuer] });
      }
      return json(res, 200, {
        issuer,
        authorization_endpoint: `${issuer}/auth`,
        token_endpoint: `${issuer}/token`,
        code_challenge_methods_supported: ['S256'],
        client_id_metadata_document_supported: true,
      });
    });
    const overrides = [upstream.standsFor(ORIGIN), upstream.standsFor(issuer)].join(',');
    const server = await startTestServer({
      env: { BASE_URL: 'https://valetkey.example', VALETKEY_ENDPOINT_OVERRIDES: overrides },
    });
    await allowVerifyUrls(server, VERIFY_URL);
    const { identifier } = await createProvider(server, { auth_patterns: [PATTERN], proxy_url: RESOURCE });
    const link = (await makeLink(server, { connector: identifier })).replace('https://valetkey.example', server.origin);
    const page = await submitLink(new TestBrowser(), link);
    const sent = new URL(page.location ?? '').searchParams;
    const clientId = sent.get('client_id') ?? '';
    expect(clientId).to.match(/^https:\/\/valetkey\.example\/oauth\/client\/conn_/);
    const { body } = await server.call('GET', new URL(clientId).pathname, { token: null });
    expect(body).to.deep.include({ client_id: clientId, token_endpoint_auth_method: 'none' });
    expect(body.redirect_uris).to.deep.equal([sent.get('redirect_uri')]);
    expect((await server.call('GET', '/oauth/client/conn_0', { token: null })).status).to.equal(404);
    await server.stop();
    await upstream.stop();
  });
});
