import type { ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import { MCP_SERVER, OUTBOUND } from '../../core/budgets.ts';
import { wrap } from '../../wiring/overrides.ts';
import { createAccount } from '../support/accounts.ts';
import { type TestClock, testClock } from '../support/clock.ts';
import { execute } from '../support/execute.ts';
import { createKeyedAccount, KEYED_ORIGIN } from '../support/keyed-api.ts';
import { until } from '../support/manual-timer.ts';
import { sessionToken } from '../support/mcp.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { accessToken } from '../support/tokens.ts';
import { json, startUpstream, type Upstream } from '../support/upstream.ts';

const KB = 1024;

describe('S2: clients that do not read their responses', () => {
  let acme: Upstream;
  let server: TestServer;
  let clock: TestClock;
  let token: string;
  let id: string;
  let sockets: Socket[];
  /** The server's side of the connections on which it has responded to a request. */
  const served = new Set<Socket>();
  /** The responses that the provider has started and not ended. */
  const open = new Set<ServerResponse>();

  before(async () => {
    acme = await startUpstream((request, res) => {
      if (request.target !== '/slow') return json(res, 200, { ok: true });
      open.add(res);
      res.on('close', () => open.delete(res)).on('error', () => {});
      return res.writeHead(200, { 'content-type': 'text/plain' }).write(Buffer.alloc(256 * KB, 'a'));
    });
    clock = testClock(Date.now());
    server = await startTestServer({
      env: { VALETKEY_ENDPOINT_OVERRIDES: acme.endpointOverride(KEYED_ORIGIN) },
      overrides: {
        now: clock.now,
        onResponse: wrap((onResponse) => (...args) => {
          served.add(args[0].req.socket);
          onResponse(...args);
        }),
      },
    });
    ({ id } = await createKeyedAccount(server));
    token = await accessToken(server);
  });
  beforeEach(() => {
    sockets = [];
  });
  afterEach(() => {
    for (const socket of sockets) socket.destroy();
  });
  after(async () => {
    await server.stop();
    await acme.stop();
  });

  /** Sends a request on a connection that is never read. */
  function ask(path: string, headers: Record<string, string> = {}, { body = '', times = 1 } = {}): void {
    const { port } = new URL(server.origin);
    const socket = connect(Number(port), '127.0.0.1');
    socket.pause().on('error', () => {});
    const own = { host: 'localhost', authorization: `Bearer ${token}`, 'content-length': String(body.length) };
    const lines = Object.entries({ ...own, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
    const method = body === '' ? 'GET' : 'POST';
    socket.write(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`.repeat(times));
    sockets.push(socket);
  }

  async function createGithubAccount(userId = 'user-1'): Promise<{ connection_id: string }> {
    const authorization_details = { static_auth: { details: { token: 'ghp_0123456789abcdef' } } };
    const connectedAccount = { authorization_details };
    const account = await createAccount(server, {
      connector: 'github',
      userId,
      identifier: 'ada',
      connectedAccount,
    });
    return account as unknown as { connection_id: string };
  }

  const callRaw = () => server.call('GET', '/api/v1/proxy/quick', { headers: { 'valetkey-account-id': id } });
  const callTool = () => execute(server, id, 'http_get', { path: '/quick' });

  it('do not occupy the slots of an origin with a raw call', async () => {
    const count = OUTBOUND.callsPerOrigin + 6;
    for (let asked = 0; asked < count; asked++) ask('/api/v1/proxy/slow', { 'valetkey-account-id': id });
    await until(() => open.size === count);
    expect((await callTool()).status).to.equal(200);
    expect((await callRaw()).status).to.equal(200);
    for (const socket of sockets) socket.destroy();
    await until(() => open.size === 0);
    expect(server.parts.bodies.used).to.equal(0);
    const statuses = await Promise.all(Array.from({ length: OUTBOUND.callsPerOrigin }, callTool));
    expect(new Set(statuses.map(({ status }) => status))).to.deep.equal(new Set([200]));
  });

  /** Checks that other clients are served while these do not read, and that nothing remains after they disconnect. */
  async function othersAreServed(): Promise<void> {
    await until(() => served.size === sockets.length);
    const theirs = [...served];
    expect((await server.call('GET', '/api/v1/connections')).status).to.equal(200);
    expect((await callTool()).status).to.equal(200);
    for (const socket of sockets) socket.destroy();
    await until(() => theirs.every(({ destroyed }) => destroyed));
    expect(server.parts.bodies.used).to.equal(0);
    expect((await callRaw()).status).to.equal(200);
  }

  it('do not affect others when they do not read large lists', async () => {
    const path = '/api/v1/tools?connector=github&detail=full&page_size=100';
    expect((await server.call('GET', path)).status).to.equal(200);
    served.clear();
    for (let asked = 0; asked < 10; asked++) ask(path, {}, { times: 5 });
    await othersAreServed();
  });

  it('M7: do not affect others when they open streams of an MCP server: each ends with its token and leaves no data behind', async () => {
    const { connection_id } = await createGithubAccount('streams');
    const owner = { user_id: 'streams', identifier: 'ada', lifetime_seconds: 60 };
    const path = `/mcp/${connection_id}`;
    const headersOf = async () => ({
      authorization: `Bearer ${await sessionToken(server, connection_id, owner)}`,
      accept: 'application/json, text/event-stream',
    });
    const begin = async (headers: Record<string, string>) => {
      const clientInfo = { name: 'raw', version: '1' };
      const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
      const body = { jsonrpc: '2.0', id: 1, method: 'initialize', params };
      const answer = await server.call('POST', path, { token: null, body, headers });
      return { ...headers, 'mcp-session-id': String(answer.headers['mcp-session-id']) };
    };
    const short = await headersOf();
    // The server's clock is stopped, while the token's remaining time passes on the real clock.
    clock.advance(59_000);
    const sessions = [];
    for (let count = 0; count < MCP_SERVER.streamsOfUser + 4; count++) sessions.push(await begin(short));
    served.clear();
    for (const headers of sessions) ask(path, headers);
    expect((await callTool()).status).to.equal(200);
    await until(() => served.size >= sessions.length);
    const theirs = sockets.map(({ localPort }) => localPort);
    await until(() => [...served].every(({ destroyed, remotePort }) => destroyed || !theirs.includes(remotePort)));
    clock.advance(2_000);
    const gone = new AbortController();
    const fresh = await begin(await headersOf());
    const { status } = await fetch(server.origin + path, { headers: fresh, signal: gone.signal });
    gone.abort();
    expect(status, 'their places are free').to.equal(200);
    expect(server.parts.bodies.used).to.equal(0);
  });

  it('do not affect others when they do not read responses of an MCP server', async () => {
    const { connection_id } = await createGithubAccount();
    const owner = { user_id: 'user-1', identifier: 'ada' };
    const authorization = `Bearer ${await sessionToken(server, connection_id, owner)}`;
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} });
    const headers = {
      authorization,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-11-25',
    };
    const whole = await server.call('POST', `/mcp/${connection_id}`, { token: null, body: JSON.parse(body), headers });
    expect(whole.status, whole.text.slice(0, 300)).to.equal(200);
    expect(whole.text.length).to.be.above(100 * KB);
    served.clear();
    for (let asked = 0; asked < 10; asked++) ask(`/mcp/${connection_id}`, headers, { body, times: 5 });
    await othersAreServed();
  });
});
