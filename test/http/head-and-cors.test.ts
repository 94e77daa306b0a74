import { expect } from 'chai';
import { request } from 'undici';
import { startServer } from '../../http/server.ts';
import { freePort } from '../../scripts/demo/process.ts';
import { operationsOf } from '../../scripts/openapi-document.ts';
import { contract } from '../contract/contract.ts';
import { requestOf } from '../support/contract-requests.ts';
import { keyConnector, makeLink, startLinkServer } from '../support/links.ts';
import { sessionToken } from '../support/mcp.ts';
import { createConnection } from '../support/providers.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';

/**
 * Headers that differ between requests. The client of the tests closes its connection after a HEAD. Transfer-Encoding
 * may be left out of the response to a HEAD (RFC 9112 §6.1).
 */
const CHANGING = ['date', 'x-request-id', 'set-cookie', 'connection', 'keep-alive', 'transfer-encoding'];
/** Pages whose GET may change data. A HEAD must not do this, so it cannot know their length. */
const PAGES = /^\/(connect|portal|oauth\/(authorize|callback|login|consent))(\/|\?|$)/;

describe('HEAD', () => {
  let server: TestServer;

  before(async () => {
    server = await startTestServer();
    // Puts a row into the audit log, so that its export has a body.
    await createConnection(server);
  });
  after(() => server.stop());

  async function compare(path: string, token?: string | null): Promise<void> {
    const headers = { 'x-request-id': 'same' };
    const options = { headers, ...(token !== undefined && { token }) };
    const get = await server.call('GET', path, options);
    const head = await server.call('HEAD', path, options);
    const stable = (all: Record<string, unknown>) =>
      Object.fromEntries(Object.entries(all).filter(([name]) => !CHANGING.includes(name)));
    expect(head.status, path).to.equal(get.status);
    const expected = stable(get.headers);
    if (PAGES.test(path) && /^text\/html/.test(String(get.headers['content-type']))) delete expected['content-length'];
    expect(stable(head.headers), path).to.deep.equal(expected);
    expect(head.text, path).to.equal('');
    expect(get.text, path).not.to.equal('');
  }

  for (const operation of operationsOf(contract)) {
    if (operation.method !== 'get') continue;
    it(`returns the status and headers of ${operation.id} without a body`, async () => {
      const { path, request: sent } = requestOf(operation);
      await compare(path, sent.token);
    });
  }

  for (const path of [
    '/docs',
    '/docs/errors',
    '/',
    '/docs/assets/reference.js',
    '/docs/guides/mcp',
    '/llms.txt',
    '/docs/nothing',
    '/openapi.json',
    '/openapi.yaml',
    '/connect/connected',
    '/connect/nothing',
    '/connect/assets/connect.css',
    '/connect/assets/nothing',
    '/oauth/callback/nothing',
    '/healthz',
    '/readyz',
    '/nothing',
    '/favicon.ico',
    '/favicon.svg',
    '/portal',
    '/portal/open/nothing',
    '/portal/sign_out',
    '/connect/logo/nothing',
    '/console/assets/nothing',
    '/console/session',
    '/docs/guides/mcp.md',
    '/oauth/authorize/nothing',
    '/oauth/authorize',
    '/oauth/authorize?response_type=code&client_id=nothing',
    '/portal/login',
    '/oauth/login/nothing',
    '/oauth/login/callback',
    '/oauth/consent/nothing',
    '/.well-known/oauth-authorization-server',
    '/.well-known/oauth-protected-resource/mcp/nothing',
    '/.well-known/security.txt',
    '/mcp/nothing',
    '/api/v1/proxy/nothing',
  ]) {
    it(`returns the headers of ${path} without a body`, () => compare(path, null));
  }

  it('returns the headers of /metrics without a body, and other methods are refused', async () => {
    const metricsPort = await freePort();
    const { parts } = server;
    const second = await startServer({ ...parts, config: { ...parts.config, metricsPort }, close: async () => {} });
    try {
      const ask = async (method: string) => {
        const answer = await request(`http://127.0.0.1:${metricsPort}/metrics`, { method: method as 'GET' });
        return { ...answer, text: await answer.body.text() };
      };
      const [get, head, post] = [await ask('GET'), await ask('HEAD'), await ask('POST')];
      expect([get.statusCode, head.statusCode, head.text]).to.deep.equal([200, 200, '']);
      expect(Number(get.headers['content-length'])).to.equal(Buffer.byteLength(get.text));
      expect(head.headers['content-type']).to.equal(get.headers['content-type']);
      expect(Number(head.headers['content-length'])).to.be.above(0);
      expect([post.statusCode, post.headers['allow']]).to.deep.equal([405, 'GET, HEAD']);
    } finally {
      await second.stop();
    }
  });

  it('returns the headers of the protected resource metadata of an MCP server without a body', async () => {
    const { id } = await createConnection(server, { connector: 'github' });
    await compare(`/.well-known/oauth-protected-resource/mcp/${id}`, null);
  });

  it("returns the headers of a link's page without a body, and does not use the link", async () => {
    const links = await startLinkServer();
    try {
      const link = await makeLink(links, { connector: await keyConnector(links) });
      const { pathname } = new URL(link);
      for (const method of ['HEAD', 'HEAD', 'GET'] as const) {
        const answer = await links.call(method, pathname, { token: null });
        expect([answer.status, answer.text === '']).to.deep.equal([200, method === 'HEAD']);
      }
    } finally {
      await links.stop();
    }
  });

  it('requires the scope of the GET, and an existing method', async () => {
    const weak = await server.call('HEAD', '/api/v1/connections', { token: server.token('tools:read') });
    expect(weak.status).to.equal(403);
    const post = await server.call('HEAD', '/api/v1/execute_tool');
    expect([post.status, post.headers['allow']]).to.deep.equal([405, 'POST']);
    expect((await server.call('PATCH', '/api/v1/connections')).headers['allow']).to.equal('GET, POST, HEAD');
  });
});

describe('cross-origin requests (X16)', () => {
  const PAGE = 'http://localhost:6274';
  const FOREIGN = 'https://playground.example';
  let server: TestServer;
  let mcp: string;
  let token: string;

  before(async () => {
    server = await startTestServer();
    const { id } = await createConnection(server, { connector: 'github' });
    mcp = `/mcp/${id}`;
    token = await sessionToken(server, id);
  });
  after(() => server.stop());

  const send = async (method: string, path: string, headers: Record<string, string>, body?: string) => {
    const answer = await request(`${server.origin}${path}`, { method: method as 'GET', headers, body: body ?? null });
    await answer.body.text();
    return answer;
  };
  const preflight = (path: string, origin: string, method: string, fields = 'authorization, content-type') =>
    send('OPTIONS', path, {
      origin,
      'access-control-request-method': method,
      'access-control-request-headers': fields,
    });

  it('X16: from any origin may read metadata and keys, and get tokens', async () => {
    for (const path of [
      '/.well-known/oauth-authorization-server',
      '/.well-known/openid-configuration',
      '/.well-known/jwks.json',
      `/.well-known/oauth-protected-resource${mcp}`,
    ]) {
      const before = await preflight(path, FOREIGN, 'GET');
      expect(before.statusCode, path).to.equal(204);
      expect(before.headers, path).to.include({
        'access-control-allow-origin': '*',
        'access-control-allow-methods': 'GET, HEAD',
        'access-control-allow-headers': 'authorization, content-type',
      });
      const read = await send('GET', path, { origin: FOREIGN });
      expect([read.statusCode, read.headers['access-control-allow-origin']], path).to.deep.equal([200, '*']);
      expect(read.headers).not.to.have.property('access-control-allow-credentials');
    }
    expect((await preflight('/oauth/token', FOREIGN, 'POST')).headers).to.include({
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'POST',
    });
    const form = { origin: FOREIGN, 'content-type': 'application/x-www-form-urlencoded' };
    const refused = await send('POST', '/oauth/token', form, 'grant_type=client_credentials');
    expect([refused.statusCode, refused.headers['access-control-allow-origin']]).to.deep.equal([401, '*']);
  });

  it('X16: from an allowed origin may use an MCP server, and read why it refuses them', async () => {
    const before = await preflight(mcp, PAGE, 'POST', 'authorization, mcp-protocol-version, mcp-param-x');
    expect(before.statusCode).to.equal(204);
    expect(before.headers).to.include({
      'access-control-allow-origin': PAGE,
      'access-control-allow-methods': 'POST, GET, HEAD, DELETE',
      'access-control-allow-headers': 'authorization, mcp-protocol-version, mcp-param-x',
      vary: 'Origin',
    });
    const refused = await send('POST', mcp, { origin: PAGE, 'content-type': 'application/json' }, '{}');
    expect([refused.statusCode, refused.headers['access-control-allow-origin']]).to.deep.equal([401, PAGE]);
    expect(refused.headers['access-control-expose-headers']).to.include('WWW-Authenticate');
    const list = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} };
    const json = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    const headers = { ...json, origin: PAGE, authorization: `Bearer ${token}` };
    const taken = await send('POST', mcp, headers, JSON.stringify(list));
    expect([taken.statusCode, taken.headers['access-control-allow-origin']]).to.deep.equal([200, PAGE]);
  });

  it('X16: from other origins may not use an MCP server, and no origin may use the API', async () => {
    expect((await preflight(mcp, FOREIGN, 'POST')).statusCode).to.equal(403);
    expect((await preflight(mcp, FOREIGN, 'POST')).headers).not.to.have.property('access-control-allow-origin');
    const api = await preflight('/api/v1/connections', PAGE, 'GET');
    expect(api.statusCode).to.equal(405);
    expect(api.headers).not.to.have.property('access-control-allow-origin');
  });

  it('X16: list the same methods in Allow as GET and OPTIONS have', async () => {
    const headers = { authorization: `Bearer ${token}` };
    expect((await send('OPTIONS', mcp, {})).headers['allow']).to.equal('POST, GET, HEAD, DELETE, OPTIONS');
    for (const method of ['GET', 'DELETE', 'HEAD', 'PATCH']) {
      const answer = await send(method, mcp, headers);
      expect([answer.statusCode, answer.headers['allow']], method).to.deep.equal([405, 'POST']);
    }
    const inSession = await send('PATCH', mcp, { ...headers, 'mcp-session-id': 'x' });
    expect([inSession.statusCode, inSession.headers['allow']]).to.deep.equal([405, 'POST, GET, HEAD, DELETE']);
  });

  it('return the same for HEAD as for GET within a session, and open no stream', async () => {
    const session = {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    };
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
    const started = await send(
      'POST',
      mcp,
      session,
      JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }),
    );
    const headers = { ...session, 'mcp-session-id': String(started.headers['mcp-session-id']) };
    // The session can have one stream at a time, so a GET after a stream that stayed open would be a 409.
    for (const method of ['HEAD', 'HEAD', 'GET'] as const) {
      const { statusCode, headers: sent, body } = await request(`${server.origin}${mcp}`, { method, headers });
      body.on('error', () => {}).destroy();
      expect([statusCode, sent['content-type']], method).to.deep.equal([200, 'text/event-stream']);
    }
    const unknown = await send('HEAD', mcp, { ...headers, 'mcp-session-id': 'unknown' });
    expect(unknown.statusCode).to.equal(404);
  });

  it('are refused with a preflight header that is not a list of names', async () => {
    const odd = await preflight('/oauth/token', FOREIGN, 'POST', 'x"; evil');
    expect(odd.statusCode).to.equal(204);
    expect(odd.headers).not.to.have.property('access-control-allow-headers');
  });
});
