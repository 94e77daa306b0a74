import type { ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import { OUTBOUND } from '../../core/budgets.ts';
import { execute } from '../support/execute.ts';
import { createKeyedAccount, KEYED_ORIGIN } from '../support/keyed-api.ts';
import { until } from '../support/manual-timer.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { accessToken } from '../support/tokens.ts';
import { json, startUpstream, type Upstream } from '../support/upstream.ts';

const KB = 1024;

describe('S2: clients that do not read what they asked for', () => {
  let acme: Upstream;
  let server: TestServer;
  let token: string;
  let id: string;
  let sockets: Socket[];
  /** The responses that the provider has begun and not ended. */
  const open = new Set<ServerResponse>();

  before(async () => {
    acme = await startUpstream((request, res) => {
      if (request.target !== '/slow') return json(res, 200, { ok: true });
      open.add(res);
      res.on('close', () => open.delete(res)).on('error', () => {});
      return res.writeHead(200, { 'content-type': 'text/plain' }).write(Buffer.alloc(256 * KB, 'a'));
    });
    server = await startTestServer({ env: { VALETKEY_ENDPOINT_OVERRIDES: acme.standsFor(KEYED_ORIGIN) } });
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
  function ask(path: string, headers: Record<string, string> = {}): void {
    const { port } = new URL(server.origin);
    const socket = connect(Number(port), '127.0.0.1');
    socket.pause().on('error', () => {});
    const lines = Object.entries({ host: 'localhost', authorization: `Bearer ${token}`, ...headers });
    socket.write(`GET ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`);
    sockets.push(socket);
  }

  const callRaw = () => server.call('GET', '/api/v1/proxy/quick', { headers: { 'valetkey-account-id': id } });
  const callTool = () => execute(server, id, 'http_get', { path: '/quick' });

  it('leave the places at an origin to other calls when they do not read a raw call', async () => {
    const count = OUTBOUND.callsPerOrigin + 6;
    for (let asked = 0; asked < count; asked++) ask('/api/v1/proxy/slow', { 'valetkey-account-id': id });
    await until(() => open.size === count);
    expect((await callTool()).status).to.equal(200);
    expect((await callRaw()).status).to.equal(200);
    for (const socket of sockets) socket.destroy();
    await until(() => open.size === 0);
    expect(server.deps.bodies.used).to.equal(0);
    const statuses = await Promise.all(Array.from({ length: OUTBOUND.callsPerOrigin }, callTool));
    expect(new Set(statuses.map(({ status }) => status))).to.deep.equal(new Set([200]));
  });
});
