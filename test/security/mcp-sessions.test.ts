import { expect } from 'chai';
import { type TestClock, testClock } from '../support/clock.ts';
import { connectMcp, rawMcp, requestSession, sessionToken } from '../support/mcp.ts';
import { startLoginWorld } from '../support/mcp-login.ts';
import { createConnection } from '../support/providers.ts';
import { addSecondEnvironment } from '../support/second-environment.ts';
import type { TestResponse, TestServer } from '../support/server.ts';
import { CLIENT_ID, startTestServer } from '../support/server.ts';
import { accessToken } from '../support/tokens.ts';

describe('session tokens of MCP servers (M2)', () => {
  let server: TestServer;
  let clock: TestClock;
  let github: string;
  let slack: string;

  before(async () => {
    clock = testClock();
    server = await startTestServer({ overrides: { now: clock.now } });
    github = (await createConnection(server, { connector: 'github' })).id;
    slack = (await createConnection(server, { connector: 'slack' })).id;
  });
  after(() => server.stop());

  function expectRefused(answer: TestResponse, challenge = 'Bearer error="invalid_token",'): void {
    expect(answer.status).to.equal(401);
    expect(answer.body).to.deep.include({ jsonrpc: '2.0', id: null });
    expect(answer.body.error.data.code).to.equal('UNAUTHENTICATED');
    expect(answer.headers['www-authenticate']).to.match(new RegExp(`^${challenge}`));
  }

  it('admit their user (control)', async () => {
    const token = await sessionToken(server, github);
    expect((await rawMcp(server, github, { token })).status).to.equal(200);
  });

  it('without one a client gets the address of the metadata that describe how to get one (M6)', async () => {
    const answer = await rawMcp(server, github);
    expectRefused(answer, 'Bearer resource_metadata=');
    const challenge = String(answer.headers['www-authenticate']);
    const metadata = /resource_metadata="([^"]+)"/.exec(challenge)?.[1] ?? '';
    // The host is the one that the client has called, which may differ from that of the base URL.
    expect(metadata).to.equal(`${server.origin}/.well-known/oauth-protected-resource/mcp/${github}`);
    const { status, body } = await server.call('GET', new URL(metadata).pathname, { token: null });
    expect(status).to.equal(200);
    expect(body).to.deep.equal({
      resource: `${server.origin}/mcp/${github}`,
      authorization_servers: ['http://localhost'],
      scopes_supported: ['tools:read', 'tools:call'],
      bearer_methods_supported: ['header'],
    });
  });

  it('of another server are refused, because the audience is part of the encryption', async () => {
    expectRefused(await rawMcp(server, slack, { token: await sessionToken(server, github) }));
  });

  it('of another environment are refused, even for a server of the same id (T8)', async () => {
    const other = await addSecondEnvironment(server);
    const { body } = await other.call('POST', '/api/v1/connections', { body: { connector: 'github' } });
    const { token } = (await requestSession(other, body.connection.id)).body;
    const headers = { host: other.host };
    expect((await rawMcp(server, body.connection.id, { token, headers })).status).to.equal(200);
    expectRefused(await rawMcp(server, body.connection.id, { token }));
    expectRefused(await rawMcp(server, github, { token: await sessionToken(server, github), headers }));
  });

  it('that have expired are refused', async () => {
    const token = await sessionToken(server, github, { lifetime_seconds: 60 });
    clock.advance(59_000);
    expect((await rawMcp(server, github, { token })).status).to.equal(200);
    clock.advance(1_000);
    expectRefused(await rawMcp(server, github, { token }));
  });

  it('that were changed at any position are refused', async () => {
    const token = await sessionToken(server, github);
    for (let at = 0; at < token.length; at += 7) {
      const letter = token[at] === 'A' ? 'B' : 'A';
      expectRefused(await rawMcp(server, github, { token: token.slice(0, at) + letter + token.slice(at + 1) }));
    }
  });

  it('are not accepted as access tokens, nor are access tokens as session tokens', async () => {
    expectRefused(await rawMcp(server, github, { token: await accessToken(server) }));
    const token = await sessionToken(server, github);
    expect((await server.call('GET', '/api/v1/tools', { token })).status).to.equal(401);
  });

  it('are accepted in the header only', async () => {
    const token = await sessionToken(server, github);
    const answer = await server.call('POST', `/mcp/${github}?access_token=${token}`, { token: null, body: {} });
    expectRefused(answer, 'Bearer resource_metadata=');
  });

  it('allow no links that the API client could not create: the client gets an error with the next action', async () => {
    const { token } = (await requestSession(server, slack, {}, { token: server.token('tools:execute') })).body;
    const params = { name: 'slack_list_channels', arguments: {} };
    const { body } = await rawMcp(server, slack, { token, method: 'tools/call', params });
    expect(body.result.isError).to.equal(true);
    expect(body.result.structuredContent.error).to.deep.include({ code: 'ACCOUNT_NOT_ACTIVE' });
    expect(body.result.structuredContent.error.next_action.operation_id).to.equal('generateMagicLink');
    expect(JSON.stringify(body)).to.not.contain('/connect/');
    const accounts = await server.call('GET', '/api/v1/connected_accounts');
    expect(accounts.body.total_size).to.equal(0);
  });

  it('are in no log, and in no row of the database', async () => {
    const token = await sessionToken(server, github);
    await rawMcp(server, github, { token });
    expect(server.logs.join('\n')).to.not.contain(token);
  });

  it('are revoked with the API client that requested them (T5)', async () => {
    const token = await sessionToken(server, github);
    const admin = server.token('admin');
    const answer = await server.call('POST', `/api/v1/api_clients/${CLIENT_ID}:disable`, { token: admin });
    expect(answer.status).to.equal(200);
    expectRefused(await rawMcp(server, github, { token }));
  });
});

describe('the MCP endpoint in a browser (M1)', () => {
  let server: TestServer;
  let github: string;
  let token: string;

  before(async () => {
    server = await startTestServer({ env: { BASE_URL: 'https://valetkey.example' } });
    github = (await createConnection(server, { connector: 'github' })).id;
    token = await sessionToken(server, github);
  });
  after(() => server.stop());

  const from = (headers: Record<string, string>) => rawMcp(server, github, { token, headers });

  it('accepts programs, our own pages, and in development pages of the same machine', async () => {
    for (const origin of [undefined, 'https://valetkey.example', 'http://localhost:6274', 'http://127.0.0.1:3000']) {
      const answer = await from(origin === undefined ? {} : { origin });
      expect(answer.status, String(origin)).to.equal(200);
    }
  });

  it('returns 403 for pages of any other origin, even with a valid token', async () => {
    for (const origin of [
      'https://evil.example',
      'http://valetkey.example',
      'https://valetkey.example.evil.example',
      'http://localhost.evil.example',
      'null',
      'file://',
      'not an origin',
    ]) {
      const answer = await from({ origin });
      expect(answer.status, origin).to.equal(403);
      expect(answer.body.error.data.code).to.equal('ORIGIN_NOT_ALLOWED');
      expect(answer.headers).to.not.have.property('access-control-allow-origin');
    }
  });

  it('returns 421 for an unknown host: a name that was rebound to the server', async () => {
    expect((await from({ host: 'rebound.example' })).status).to.equal(421);
  });

  it('returns JSON-RPC errors for invalid requests, with the supported methods', async () => {
    const call = (method: string, path: string, request = {}) => server.call(method, path, { token, ...request });
    expect((await call('PATCH', `/mcp/${github}`)).headers['allow']).to.equal('POST');
    expect((await call('GET', '/mcp')).status).to.equal(404);
    expect((await call('POST', `/mcp/${github}`)).body.error.code).to.equal(-32700);
    expect((await call('POST', `/mcp/${github}`, { body: '{"a":1,"a":2}' })).status).to.equal(415);
    const doubled = { body: '{"a":1,"a":2}', headers: { 'content-type': 'application/json' } };
    expect((await call('POST', `/mcp/${github}`, doubled)).body.error.code).to.equal(-32700);
    expect((await call('GET', `/mcp/${github}`)).status).to.equal(405);
  });

  it('requires a token for every kind of protocol request', async () => {
    const failed = await connectMcp(server, github, 'vkm_nothing').then(
      () => null,
      (error) => error,
    );
    expect(failed).to.be.an.instanceOf(Error);
  });
});

describe('the rate of MCP requests', () => {
  it('is limited for each API client: 429 with Retry-After', async () => {
    const clock = testClock();
    const server = await startTestServer({ env: { VALETKEY_RATE_LIMIT: '5' }, overrides: { now: clock.now } });
    const { id } = await createConnection(server, { connector: 'github' });
    const token = await sessionToken(server, id);
    clock.advance(1000);
    const statuses = [];
    for (let round = 0; round < 6; round++) statuses.push(await rawMcp(server, id, { token }));
    expect(statuses.map(({ status }) => status)).to.deep.equal([200, 200, 200, 200, 200, 429]);
    expect(statuses.at(-1)?.headers['retry-after']).to.equal('1');
    await server.stop();
  });

  it('is limited for each grant of a user: other users and the application are not delayed', async () => {
    const world = await startLoginWorld({ env: { VALETKEY_RATE_LIMIT: '5' } });
    const tokens = [];
    for (const user_id of ['ada', 'bob']) {
      world.clock.advance(1000);
      tokens.push((await world.tokens({}, { user_id, identifier: user_id })).access_token);
    }
    world.clock.advance(1000);
    const [ofAda = '', ofBob = ''] = tokens;
    const statuses = [];
    for (let round = 0; round < 6; round++) statuses.push((await world.listTools(ofAda)).status);
    expect(statuses).to.deep.equal([200, 200, 200, 200, 200, 429]);
    expect((await world.listTools(ofBob)).status).to.equal(200);
    expect((await world.server.call('GET', '/api/v1/tools?page_size=1')).status).to.equal(200);
    await world.stop();
  });
});
