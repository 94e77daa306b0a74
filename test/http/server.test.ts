import { expect } from 'chai';
import { bindPorts, type ServerLimits } from '../../http/connections/bound-server.ts';
import type { RunningServer } from '../../http/server.ts';
import { startServer } from '../../http/server.ts';
import { wrap } from '../../wiring/overrides.ts';
import { execute } from '../support/execute.ts';
import { type FaultPlace, failingStore } from '../support/failing-store.ts';
import { createKeyedAccount, KEYED_ORIGIN } from '../support/keyed-api.ts';
import { NO_BACKGROUND } from '../support/no-background.ts';
import { openRaw } from '../support/raw-http.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';
import type { Upstream } from '../support/upstream.ts';
import { json, startUpstream } from '../support/upstream.ts';

const PATIENT: Partial<ServerLimits> = {
  headersMs: 10_000,
  requestMs: 10_000,
  keepAliveMs: 10_000,
  checkEveryMs: 1_000,
  connections: 100,
  drainMs: 5_000,
};

describe('the server', () => {
  describe('routes', () => {
    let server: TestServer;

    before(async () => {
      server = await startTestServer();
    });
    after(() => server.stop());

    for (const [method, path, allow] of [
      ['PATCH', '/api/v1/connections', 'GET, HEAD, POST'],
      ['HEAD', '/api/v1/execute_tool', 'POST'],
      ['OPTIONS', '/api/v1/connections', 'GET, HEAD, POST'],
      ['GET', '/api/v1/execute_tool', 'POST'],
      ['GET', '/api/v1/connected_accounts:delete', 'POST'],
      ['POST', '/api/v1/connections/conn_x', 'DELETE, GET, HEAD, PUT'],
      ['GET', '/api/v1/connections/conn_x:enable', 'POST'],
      ['POST', '/healthz', 'GET, HEAD'],
      ['TRACE', '/api/v1/connections', 'GET, HEAD, POST'],
    ] as const) {
      it(`405 with Allow: ${method} ${path}`, async () => {
        const answer = await server.call(method, path);
        expect(answer.status).to.equal(405);
        expect(String(answer.headers['allow']).split(', ').toSorted().join(', ')).to.equal(allow);
        if (method !== 'HEAD') expect(answer.body).to.include({ code: 'METHOD_NOT_ALLOWED' });
        else expect(answer.text).to.equal('');
      });
    }

    for (const path of [
      '/api/v1/unknown',
      '/api/v1/connections/',
      '/API/V1/connections',
      '//api/v1/connections',
      '/api/v1/connected_accounts:unknown',
      '/api/v1/connections/a/b',
      '/api/v1/%63onnections',
      '/docs-of-others',
      '/openapi.json.bak',
      '/openapi.json/x',
      '/docs/unknown',
      '/docs/guides/unknown',
      '/docs/guides/..%2F..%2FCONTRIBUTING',
      '/docs/viewer/VERSION',
      '/docs/viewer/..%2F..%2Fpackage.json',
      '/.well-known/security.txt',
      '/docs/%ZZ',
      '/docs/assets/../../package.json',
    ]) {
      it(`404 without a token: ${path}`, async () => {
        const answer = await server.call('GET', path, { token: null });
        expect(answer.body).to.include({ status: 404, code: 'NOT_FOUND' });
        expect(answer.headers['content-type']).to.equal('application/problem+json');
      });
    }

    for (const path of [
      '/api/v1/connected_accounts%3Asearch?query=abc',
      '/api/v1/connected_accounts%3asearch?query=abc',
    ]) {
      it(`accept an escaped colon: ${path}`, async () => {
        expect((await server.call('GET', path)).status).to.equal(200);
      });
    }

    it('decode the parameters of a path once', async () => {
      const answer = await server.call('GET', '/api/v1/providers/git%68ub');
      expect(answer.body.provider.identifier).to.equal('github');
      expect((await server.call('GET', '/api/v1/providers/git%2568ub')).status).to.equal(404);
      expect((await server.call('GET', '/api/v1/providers/%zz')).status).to.equal(404);
    });

    for (const [method, path] of [
      ['GET', '/api/v1/connections'],
      ['GET', '/healthz'],
      ['DELETE', '/api/v1/connections/conn_x'],
      ['POST', '/api/v1/connections/conn_x:enable'],
    ] as const) {
      it(`reject a body for: ${method} ${path}`, async () => {
        const answer = await server.call(method, path, { body: '{}', headers: { 'content-type': 'application/json' } });
        expect(answer.body).to.include({ status: 400, code: 'VALIDATION_FAILED' });
        expect(answer.body.detail).to.include('not accept a body');
      });
    }
  });

  describe('duplicate headers', () => {
    let server: TestServer;

    before(async () => {
      server = await startTestServer();
    });
    after(() => server.stop());

    const ask = async (...headers: string[]) => {
      const connection = await openRaw(server.origin);
      connection.send(['GET /api/v1/connections HTTP/1.1', ...headers, 'Connection: close', '', ''].join('\r\n'));
      return (await connection.closed).split('\r\n')[0];
    };

    it('rejects duplicate Host and Authorization headers', async () => {
      const host = `Host: ${new URL(server.origin).host}`;
      const authorization = `Authorization: Bearer ${server.token('connections:read')}`;
      expect(await ask(host, authorization)).to.include('200');
      expect(await ask(host, 'Host: other.example', authorization)).to.include('421');
      expect(await ask(host, authorization, 'Authorization: Bearer x')).to.include('401');
    });
  });

  describe('responses', () => {
    let server: TestServer;

    before(async () => {
      server = await startTestServer();
    });
    after(() => server.stop());

    it('carry headers that prevent caching by others (S4, L15)', async () => {
      for (const path of ['/api/v1/connections', '/api/v1/unknown', '/healthz', '/mcp/conn_unknown']) {
        const { headers } = await server.call('GET', path);
        expect(headers, path).to.include({
          'cache-control': 'no-store',
          'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
          'referrer-policy': 'no-referrer',
          'x-content-type-options': 'nosniff',
        });
        expect(headers).not.to.have.any.keys('x-powered-by', 'server', 'etag');
      }
    });

    it('carry the id of their request: the one that was sent, if it is safe for logs', async () => {
      const given = await server.call('GET', '/api/v1/unknown', { headers: { 'x-request-id': 'trace-1.a_B' } });
      expect(given.headers['x-request-id']).to.equal('trace-1.a_B');
      expect(given.body.request_id).to.equal('trace-1.a_B');
      for (const bad of ['a b', 'x'.repeat(101), '{"a":1}', 'ü']) {
        const answer = await server.call('GET', '/healthz', {
          headers: { 'x-request-id': Buffer.from(bad).toString('latin1') },
        });
        expect(answer.headers['x-request-id'], bad).to.match(/^req_[0-9a-hjkmnp-tv-z]{26}$/);
      }
    });

    it('write one line per request to the log, for any content (S5)', async () => {
      const before = server.logs.length;
      await server.call('GET', '/api/v1/connections?x=%0A%7B%22level%22%3A60%7D');
      expect(server.logs.slice(before)).to.have.length(1);
      expect(JSON.parse(server.logs.at(-1) ?? '')).to.include({
        msg: 'request',
        operation: 'listConnections',
        status: 400,
      });
    });

    it('reveal nothing of an internal error (S4)', async () => {
      const fault = {
        place: undefined as FaultPlace | undefined,
        error: () => new Error('secret detail at /srv/file.ts'),
      };
      const broken = await startTestServer({
        overrides: { ...NO_BACKGROUND, store: wrap((store) => failingStore(store, fault)) },
      });
      fault.place = 'client';
      const answer = await broken.call('GET', '/api/v1/connections');
      expect(answer.body).to.include({ status: 500, code: 'INTERNAL_ERROR' });
      expect(answer.text).not.to.match(/secret detail|\.ts|stack/);
      expect(broken.logs.join('\n')).to.include('secret detail');
      await broken.stop();
    });
  });

  describe('invalid requests on a connection', () => {
    let server: TestServer;

    before(async () => {
      server = await startTestServer();
    });
    after(() => server.stop());

    const malformed: [string, string][] = [
      ['no HTTP', 'hello\r\n\r\n'],
      [
        'two lengths',
        'POST /oauth/token HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab',
      ],
      [
        'a length and a coding',
        'POST /oauth/token HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      ],
      ['a bare carriage return in a header', 'GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: a\rY: b\r\n\r\n'],
      ['headers of 32 KiB', `GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: ${'a'.repeat(32 * 1024)}\r\n\r\n`],
    ];
    for (const [what, text] of malformed) {
      it(`are refused and closed: ${what}`, async () => {
        const raw = await openRaw(server.origin);
        raw.send(text);
        expect(await raw.closed).to.match(/^HTTP\/1\.1 4\d\d /);
      });
    }

    it('cannot smuggle a second request in a body that was not read', async () => {
      const raw = await openRaw(server.origin);
      const inner = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n';
      raw.send(
        `POST /api/v1/connections HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${inner.length + 5}\r\n\r\n${inner}`,
      );
      const text = await raw.closed;
      expect(text.match(/HTTP\/1\.1 \d+/g)).to.deep.equal(['HTTP/1.1 401']);
      expect(text.toLowerCase()).to.include('connection: close');
    });

    it('are handled one after the other when they are sent together', async () => {
      const raw = await openRaw(server.origin);
      const request = (id: string) => `GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: ${id}\r\n\r\n`;
      raw.send(request('one') + request('two') + request('three').replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'));
      const ids = [...(await raw.closed).matchAll(/x-request-id: (\w+)/gi)].map((match) => match[1]);
      expect(ids).to.deep.equal(['one', 'two', 'three']);
    });

    it('do not affect others when they disconnect in the middle', async () => {
      for (let count = 0; count < 20; count++) {
        const raw = await openRaw(server.origin);
        raw.send(
          'POST /oauth/token HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\n',
        );
        raw.send('Content-Length: 1000\r\n\r\ngrant_type=');
        raw.destroy();
        await raw.closed;
      }
      expect((await server.call('GET', '/healthz')).status).to.equal(200);
      expect(server.logs.filter((line) => JSON.parse(line).level >= 50)).to.deep.equal([]);
    });
  });

  describe('slow clients (S2)', () => {
    const limits: Partial<ServerLimits> = {
      ...PATIENT,
      headersMs: 150,
      requestMs: 250,
      keepAliveMs: 100,
      checkEveryMs: 20,
      connections: 3,
    };
    let server: TestServer;
    let impatient: RunningServer;

    before(async () => {
      server = await startTestServer();
      impatient = await startServer(
        { ...server.parts, close: async () => {} },
        await bindPorts(server.parts.config, limits),
      );
    });
    after(async () => {
      await impatient.stop();
      await server.stop();
    });

    it('lose their connection when the headers do not end', async () => {
      const raw = await openRaw(impatient.origin);
      raw.send('GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-A: ');
      expect(await raw.closed).to.match(/^HTTP\/1\.1 408 /);
    });

    it('lose their connection when the body does not end', async () => {
      const raw = await openRaw(impatient.origin);
      raw.send(
        'POST /oauth/token HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 100\r\n\r\ngrant',
      );
      const text = await raw.closed;
      expect(text).not.to.include('HTTP/1.1 200');
    });

    it('lose their connection when they send no further request', async () => {
      const raw = await openRaw(impatient.origin);
      raw.send('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n');
      expect(await raw.closed).to.match(/^HTTP\/1\.1 200 /);
    });

    it('cannot exceed the limit of connections, and the next one is served', async () => {
      const held = [await openRaw(impatient.origin), await openRaw(impatient.origin), await openRaw(impatient.origin)];
      const refused = await openRaw(impatient.origin);
      expect(await refused.closed).to.equal('');
      held[0]?.destroy();
      for (let answer = ''; !answer.startsWith('HTTP/1.1 200 '); ) {
        const next = await openRaw(impatient.origin);
        next.send('GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
        answer = await next.closed;
      }
      for (const raw of held) raw.destroy();
    });
  });

  describe('stops', () => {
    let acme: Upstream;
    let server: TestServer;

    beforeEach(async () => {
      acme = await startUpstream();
      server = await startTestServer({ env: { VALETKEY_ENDPOINT_OVERRIDES: acme.endpointOverride(KEYED_ORIGIN) } });
    });
    afterEach(() => acme.stop());

    it('after the last running request has its response, and accepts no new one', async () => {
      const { id } = await createKeyedAccount(server);
      let release = () => {};
      const arrived = new Promise<void>((seen) => {
        acme.handler = async (_request, res) => {
          seen();
          await new Promise<void>((resolve) => {
            release = resolve;
          });
          json(res, 200, { late: true });
        };
      });
      const running = execute(server, id, 'http_get', { path: '/' });
      await arrived;
      let isStopped = false;
      const stopping = server.stop().then(() => {
        isStopped = true;
      });
      const refused = await openRaw(server.origin).catch((error: NodeJS.ErrnoException) => error);
      expect(refused).to.have.property('code', 'ECONNREFUSED');
      expect(isStopped).to.equal(false);
      release();
      const answer = await running;
      expect([answer.status, answer.body.data]).to.deep.equal([200, { late: true }]);
      await stopping;
    });

    it('immediately when connections are only kept alive', async () => {
      const raw = await openRaw(server.origin);
      raw.send('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n');
      await raw.until('"ok"');
      await server.stop();
      await raw.closed;
    });

    it('after a time limit when a running request does not end', async () => {
      const { id } = await createKeyedAccount(server);
      const ports = await bindPorts(server.parts.config, { ...PATIENT, drainMs: 100 });
      const impatient = await startServer({ ...server.parts, close: async () => {} }, ports);
      const arrived = new Promise<void>((seen) => {
        acme.handler = () => seen();
      });
      const raw = await openRaw(impatient.origin);
      raw.send(executeRequest(server, id));
      await arrived;
      await impatient.stop();
      expect(await raw.closed).to.equal('');
      await acme.stop();
      await server.stop();
    });

    it('with the connection of a running request closed after its response', async () => {
      const { id } = await createKeyedAccount(server);
      let release = () => {};
      const arrived = new Promise<void>((seen) => {
        acme.handler = (_request, res) => {
          release = () => json(res, 200, {});
          seen();
        };
      });
      const raw = await openRaw(server.origin);
      raw.send(executeRequest(server, id));
      await arrived;
      const stopping = server.stop();
      release();
      expect(await raw.closed).to.match(/^HTTP\/1\.1 200 /);
      await stopping;
    });
  });
});

/** Returns the bytes of an executeTool call that keeps the connection open. */
function executeRequest(server: TestServer, id: string): string {
  const body = JSON.stringify({ connected_account_id: id, tool_name: 'http_get', tool_input: { path: '/' } });
  const head = [
    'POST /api/v1/execute_tool HTTP/1.1',
    'Host: localhost',
    `Authorization: Bearer ${server.token('tools:execute')}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  return `${head.join('\r\n')}\r\n\r\n${body}`;
}
