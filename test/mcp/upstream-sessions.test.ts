import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import { createMessageReaders } from '../../core/mcp/upstream/message-reader.ts';
import { createUpstreamSessions } from '../../core/mcp/upstream/sessions.ts';
import { testClock } from '../support/clock.ts';
import { type ManualTimers, manualTimers, until } from '../support/manual-timer.ts';
import { connectMcp, REVISIONS, sessionToken } from '../support/mcp.ts';
import { createMcpProvider, type McpProvider } from '../support/mcp-provider.ts';
import { type Answer, event, events, type RawMcpServer, type RawRequest } from '../support/raw-mcp-server.ts';
import { RAW_MCP_ORIGIN as ORIGIN, type RawMcpWorld, startRawMcpWorld } from '../support/raw-mcp-world.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const MINUTE = 60_000;
const OWNER = { user_id: 'user-1', identifier: 'ada' };

describe('the session of an account at an MCP server', () => {
  const clock = testClock();
  let timers: ManualTimers;
  let sessions: ReturnType<typeof createUpstreamSessions>;
  /** The times that the server waited before it continued a stream. */
  let waits: number[] = [];
  let upstream: RawMcpServer;
  let server: TestServer;
  let provider: McpProvider;
  let world: RawMcpWorld;

  before(async () => {
    timers = manualTimers();
    sessions = createUpstreamSessions({
      now: clock.now,
      wait: async (ms) => void waits.push(ms),
      timer: timers.timer,
      messageReaders: createMessageReaders({ run: () => Promise.reject(new Error('no message is large here')) }),
    });
    // The server's clock does not advance, so it does not read the list of tools by itself in the session of a test.
    world = await startRawMcpWorld({ overrides: { now: testClock().now, upstreamSessions: sessions } });
    ({ upstream, server, provider } = world);
  });
  beforeEach(async () => {
    world.reset();
    upstream.sessionId = 'session-1';
    sessions.forget(provider.accountId);
    await run();
    upstream.requests.length = 0;
    waits = [];
    timers.forget();
  });
  after(async () => {
    await sessions.close();
    await world.stop();
  });

  const run = () => world.look();
  const onCall = (respond: Answer) => world.on('tools/call', respond);
  const progress = ({ message }: RawRequest, count: number) => ({
    method: 'notifications/progress',
    params: { progressToken: message?.params._meta.progressToken, progress: count },
  });

  describe('is kept', () => {
    it('for lists and calls: the handshake is made once', async () => {
      for (let round = 0; round < 3; round++) expect((await run()).status).to.equal(200);
      await provider.sync();
      expect(upstream.of('initialize')).to.have.length(0);
      expect(upstream.of('tools/call').map(({ headers }) => headers['mcp-session-id'])).to.deep.equal(
        Array(3).fill('session-1'),
      );
    });

    it('by concurrent calls, which share a handshake', async () => {
      sessions.forget(provider.accountId);
      const answers = await Promise.all(Array.from({ length: 5 }, run));
      expect(answers.map(({ status }) => status)).to.deep.equal(Array(5).fill(200));
      expect(upstream.of('initialize')).to.have.length(1);
      expect(upstream.of('tools/call')).to.have.length(5);
    });

    it('until it was unused for five minutes, then its server is notified', async () => {
      clock.advance(5 * MINUTE - 1);
      sessions.sweep();
      await run();
      expect(upstream.of('initialize')).to.have.length(0);
      clock.advance(5 * MINUTE + 1);
      sessions.sweep();
      await until(() => upstream.of('DELETE').length > 0);
      expect(upstream.of('DELETE')[0]?.headers).to.include({ 'mcp-session-id': 'session-1' });
      await run();
      expect(upstream.of('initialize')).to.have.length(1);
    });
  });

  describe('is opened again', () => {
    for (const status of [404, 400]) {
      it(`when its server does not know it any more (${status}), and the call runs once`, async () => {
        upstream.on = ({ headers, method }, res) =>
          method === 'POST' && headers['mcp-session-id'] === 'session-1' ? res.writeHead(status).end() : false;
        upstream.sessionId = 'session-2';
        expect((await run()).status).to.equal(200);
        expect(upstream.of('tools/call').map(({ headers }) => headers['mcp-session-id'])).to.deep.equal([
          'session-1',
          'session-2',
        ]);
      });
    }

    it('only once: a server that refuses the new one as well is not asked again', async () => {
      onCall((_request, res) => res.writeHead(404).end());
      expect((await run()).body.tool_error).to.include({ kind: 'upstream_not_found', upstream_status: 404 });
      expect(upstream.of('tools/call')).to.have.length(2);
    });

    it('with another credential, and never used with the old one', async () => {
      const authorization_details = { static_auth: { details: { token: 'another-token-0123456789' } } };
      const body = { id: provider.accountId, connected_account: { authorization_details } };
      await server.call('PUT', '/api/v1/connected_accounts', { body });
      await run();
      expect(upstream.of('initialize')).to.have.length(1);
      const tokens = new Set(upstream.requests.map(({ headers }) => headers.authorization));
      expect([...tokens]).to.deep.equal(['Bearer another-token-0123456789']);
      expect(upstream.of('tools/call')).to.have.length(1);
    });

    it('after a connection that broke', async () => {
      onCall((_request, res) => res.destroy());
      expect((await run()).body.tool_error.kind).to.equal('upstream_unreachable');
      upstream.on = () => false;
      expect((await run()).status).to.equal(200);
      expect(upstream.of('initialize')).to.have.length(1);
    });
  });

  it('is closed when its account changes', async () => {
    const other = await startTestServer({ env: { VALETKEY_ENDPOINT_OVERRIDES: upstream.endpointOverride(ORIGIN) } });
    const theirs = await createMcpProvider(other, `${ORIGIN}/mcp`);
    await theirs.sync();
    await theirs.run('their_tools_look');
    expect(upstream.of('initialize')).to.have.length(1);
    const authorization_details = { static_auth: { details: { token: 'upstream-token-0123456789' } } };
    const body = { id: theirs.accountId, connected_account: { authorization_details } };
    await other.call('PUT', '/api/v1/connected_accounts', { body });
    await theirs.run('their_tools_look');
    expect(upstream.of('initialize')).to.have.length(2);
    await other.stop();
  });

  describe('X6: the time limit of a call', () => {
    it('is a minute without messages; the server is notified that the call was cancelled', async () => {
      onCall(() => {});
      const answer = run();
      await until(() => upstream.of('tools/call').length > 0);
      expect(timers.running).to.have.members([MINUTE, 5 * MINUTE]);
      timers.fire(MINUTE);
      const { body } = await answer;
      expect(body).to.include({ status: 504, code: 'TOOL_TIMEOUT' });
      expect(body.detail).to.equal('The MCP server did not finish within 60 seconds.');
      await until(() => upstream.of('notifications/cancelled').length > 0);
      const { id } = upstream.of('tools/call')[0]?.message ?? {};
      expect(upstream.of('notifications/cancelled')[0]?.message?.params.requestId).to.equal(id);
      expect(timers.running).to.deep.equal([]);
    });

    it('is the setting of the connection', async () => {
      const path = `/api/v1/connections/${provider.connectionId}`;
      const { body } = await server.call('PUT', path, { body: { mcp_timeout_seconds: 7 } });
      expect(body.connection.mcp_timeout_seconds).to.equal(7);
      onCall(() => {});
      const answer = run();
      await until(() => timers.running.includes(7000));
      timers.fire(7000);
      expect((await answer).body.detail).to.equal('The MCP server did not finish within 7 seconds.');
      sessions.forget(provider.accountId);
      const cleared = await server.call('PUT', path, { body: { mcp_timeout_seconds: null } });
      expect(cleared.body.connection.mcp_timeout_seconds).to.equal(60);
      for (const seconds of [0, 301, 1.5, '60']) {
        expect(
          (await server.call('PUT', path, { body: { mcp_timeout_seconds: seconds } })).status,
          String(seconds),
        ).to.equal(400);
      }
    });

    it('starts again with progress, up to five minutes', async () => {
      const sent = Promise.withResolvers<{ request: RawRequest; res: ServerResponse }>();
      onCall((request, res) => {
        events(res);
        sent.resolve({ request, res });
      });
      const answer = run();
      const { request, res } = await sent.promise;
      for (let count = 1; count <= 3; count++) {
        event(res, progress(request, count));
        await until(() => timers.started(MINUTE) === count + 1);
        expect(timers.running).to.have.members([MINUTE, 5 * MINUTE]);
      }
      event(res, { id: request.message?.id, result: { content: [] } });
      expect((await answer).status).to.equal(200);
      onCall((_request, response) => events(response));
      const endless = run();
      await until(() => upstream.of('tools/call').length === 2);
      timers.fire(5 * MINUTE);
      expect((await endless).body.detail).to.equal('The MCP server did not finish within 300 seconds.');
    });
    for (const revision of REVISIONS) {
      it(`does not delay a cancellation by our client, of which the server is notified (${revision})`, async () => {
        onCall(() => {});
        const token = await sessionToken(server, provider.connectionId, OWNER);
        const client = await connectMcp(server, provider.connectionId, token, { revision });
        const stop = new AbortController();
        const call = client.callTool({ name: 'their_tools_look', arguments: {} }, { signal: stop.signal });
        await until(() => upstream.of('tools/call').length > 0);
        stop.abort();
        await call.catch(() => {});
        await until(() => upstream.of('notifications/cancelled').length > 0);
        await client.close();
      });
    }

    it('is reset by progress, which is passed on to our client', async () => {
      onCall((request, res) => {
        events(res);
        event(res, progress(request, 1));
        event(res, progress(request, 2));
        event(res, { id: request.message?.id, result: { content: [] } });
      });
      const token = await sessionToken(server, provider.connectionId, OWNER);
      const client = await connectMcp(server, provider.connectionId, token);
      const told: number[] = [];
      const onprogress = ({ progress: count }: { progress: number }) => void told.push(count);
      await client.callTool({ name: 'their_tools_look', arguments: {} }, { onprogress });
      expect(told).to.deep.equal([1, 2]);
      await client.close();
    });
  });

  describe('X13: a stream that ends before the result', () => {
    it('is continued after its last event (SEP-1699), after the time that the server asks for', async () => {
      let gets = 0;
      upstream.on = (request, res) => {
        if (request.message?.method === 'tools/call') {
          events(res);
          res.end('id: 1\nretry: 2500\ndata: \n\n');
          return undefined;
        }
        if (request.method !== 'GET') return false;
        gets += 1;
        events(res);
        if (gets < 3) return res.end(`id: ${gets + 1}\ndata: \n\n`);
        event(
          res,
          { id: upstream.of('tools/call')[0]?.message?.id, result: { content: [{ type: 'text', text: 'late' }] } },
          '9',
        );
        return res.end();
      };
      const { body } = await run();
      expect(body.data.content[0].text).to.equal('late');
      const asked = upstream.of('GET').map(({ headers }) => headers);
      expect(asked.map((headers) => headers['last-event-id'])).to.deep.equal(['1', '2', '3']);
      for (const headers of asked) {
        expect(headers).to.include({ 'mcp-session-id': 'session-1', accept: 'text/event-stream' });
        expect(headers.authorization).to.match(/^Bearer /);
      }
      expect(waits).to.deep.equal([2500, 2500, 2500]);
      expect(upstream.of('tools/call')).to.have.length(1);
    });

    it('is continued at a bounded pace, ten times', async () => {
      upstream.on = (request, res) => {
        if (request.message?.method !== 'tools/call' && request.method !== 'GET') return false;
        events(res);
        return res.end('id: 1\nretry: 0\ndata: \n\n');
      };
      const { body } = await run();
      expect(body.tool_error.message).to.equal('The MCP server ended its response without a result.');
      expect(upstream.of('GET')).to.have.length(10);
      expect(new Set(waits)).to.deep.equal(new Set([100]));
    });

    it('is a failure if it has no event to continue after', async () => {
      onCall((_request, res) => {
        events(res);
        res.end('data: \n\n');
      });
      const { body } = await run();
      expect(body).to.include({ status: 502 });
      expect(body.tool_error).to.include({ kind: 'upstream_invalid_response', upstream_status: null });
      expect(upstream.of('GET')).to.have.length(0);
    });

    for (const [what, id] of [
      ['an empty id', ''],
      ['an id that no header can contain', '\u2603'],
      ['an id with a control character', 'a\u0007b'],
      ['an id of 100 KB', 'x'.repeat(100_000)],
    ] as const) {
      it(`is a failure of the server if its last event has ${what}`, async () => {
        onCall((_request, res) => {
          events(res);
          res.end(`id: ${id}\ndata: \n\n`);
        });
        const { body } = await run();
        expect(body.tool_error).to.include({
          kind: 'upstream_invalid_response',
          message: 'The MCP server ended its response without a result.',
        });
        expect(upstream.of('GET')).to.have.length(0);
      });
    }

    for (const [status, headers] of [
      [202, {}],
      [204, {}],
      [307, { location: 'https://elsewhere.example/mcp' }],
      [400, {}],
      [401, { 'www-authenticate': 'Bearer error="invalid_token"' }],
      [403, {}],
      [404, {}],
      [429, { 'retry-after': '1' }],
      [503, {}],
    ] as const) {
      it(`is a failure that must not be repeated if the continuation gets ${status}: the call is not sent twice`, async () => {
        upstream.on = (request, res) => {
          if (request.method === 'GET') return res.writeHead(status, headers).end();
          if (request.message?.method !== 'tools/call') return false;
          events(res);
          return res.end('id: 1\ndata: \n\n');
        };
        const { body } = await run();
        expect(body.tool_error).to.include({
          kind: 'upstream_invalid_response',
          retryable: false,
          upstream_status: status,
          message: `The MCP server returned HTTP ${status}.`,
        });
        expect([upstream.of('tools/call').length, upstream.of('GET').length]).to.deep.equal([1, 1]);
        const account = await server.call('GET', `/api/v1/connected_accounts/details?id=${provider.accountId}`);
        expect(account.body.connected_account.status).to.equal('ACTIVE');
      });
    }

    it('is continued by a JSON response, which some servers send instead of events', async () => {
      upstream.on = (request, res) => {
        const { id } = upstream.of('tools/call')[0]?.message ?? {};
        const message = { jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: 'in JSON' }] } };
        if (request.method === 'GET')
          return res.writeHead(200, { 'content-type': 'application/json; charset=utf-8' }).end(JSON.stringify(message));
        if (request.message?.method !== 'tools/call') return false;
        events(res);
        return res.end('id: 1\ndata: \n\n');
      };
      const { body } = await run();
      expect(body.data?.content[0].text, JSON.stringify(body)).to.equal('in JSON');
      expect(upstream.of('GET')).to.have.length(1);
    });

    for (const [what, text, message] of [
      [
        'JSON without the result',
        '{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"gone"}}',
        'The MCP server ended its response without a result.',
      ],
      ['JSON that is no message', '[1]', 'The MCP server sent a message that is not an object.'],
      ['HTML', '<p>', 'The MCP server returned neither JSON nor events.'],
    ] as const) {
      it(`is reported as a failure if the continuation is ${what}`, async () => {
        const type = text.startsWith('<') ? 'text/html' : 'application/json';
        upstream.on = (request, res) => {
          if (request.method === 'GET') return res.writeHead(200, { 'content-type': type }).end(text);
          if (request.message?.method !== 'tools/call') return false;
          events(res);
          return res.end('id: 1\ndata: \n\n');
        };
        expect((await run()).body.tool_error).to.include({
          kind: 'upstream_invalid_response',
          retryable: false,
          message,
        });
        expect(upstream.of('GET')).to.have.length(1);
      });
    }

    it("is a failure with the server's text if it refuses to continue", async () => {
      upstream.on = (request, res) => {
        if (request.method === 'GET') return res.writeHead(405).end();
        if (request.message?.method !== 'tools/call') return false;
        events(res);
        return res.end('id: 1\ndata: \n\n');
      };
      const { body } = await run();
      expect(body.tool_error).to.include({ upstream_status: 405, message: 'The MCP server returned HTTP 405.' });
    });
  });
});
