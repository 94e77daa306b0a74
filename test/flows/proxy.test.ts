import { request as httpRequest, type IncomingMessage } from 'node:http';
import { expect } from 'chai';
import { createEgress, type Egress } from '../../core/net/egress.ts';
import { EgressPolicy } from '../../core/net/policy.ts';
import { parseEndpointOverrides } from '../../core/net/policy-settings.ts';
import { unknownId } from '../support/accounts.ts';
import { finishedExecution } from '../support/execute.ts';
import { ACCOUNT_KEY, createKeyedAccount, KEYED_ORIGIN } from '../support/keyed-api.ts';
import { addSecondEnvironment } from '../support/second-environment.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';
import { accessToken } from '../support/tokens.ts';
import type { Upstream, UpstreamHandler } from '../support/upstream.ts';
import { json, startUpstream } from '../support/upstream.ts';

const LIMITS = { streamMaxBytes: 64 * 1024 };
/** Limits for the test of timeouts only, because calls of other tests can take longer on a busy machine. */
const IMPATIENT = { ...LIMITS, timeoutMs: 500, idleTimeoutMs: 300 };

interface Answer {
  status: number;
  headers: IncomingMessage['headers'];
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read responses of every format
  body: any;
}

describe('raw calls', () => {
  let acme: Upstream;
  let evil: Upstream;
  let server: TestServer;
  let patient: Egress;
  let impatient: Egress;
  let egress: Egress;
  let token: string;
  let id: string;
  let provider: { identifier: string };
  let account: Record<string, string>;

  before(async () => {
    acme = await startUpstream();
    evil = await startUpstream();
    const overrides = [acme.endpointOverride(KEYED_ORIGIN), evil.endpointOverride('https://evil.example')].join(',');
    const policy = new EgressPolicy({ allow: [], overrides: parseEndpointOverrides(overrides) });
    patient = createEgress(policy, { limits: LIMITS });
    impatient = createEgress(policy, { limits: IMPATIENT });
    egress = patient;
    server = await startTestServer({ overrides: { egressOf: () => egress } });
    ({ id, provider, account } = await createKeyedAccount(server, { path: '/base' }));
    token = await accessToken(server);
  });
  beforeEach(() => {
    egress = patient;
    answering((_request, res) => json(res, 200, { ok: true }));
  });
  after(async () => {
    await server.stop();
    await patient.close();
    await impatient.close();
    await acme.stop();
    await evil.stop();
  });

  function answering(handler: UpstreamHandler): void {
    acme.handler = handler;
    acme.requests.length = 0;
    evil.requests.length = 0;
  }

  /** Sends the target unchanged, which fetch would normalise. */
  function call(
    method: string,
    target: string,
    {
      headers = {},
      body,
      to = id,
    }: { headers?: Record<string, string>; body?: string | Buffer; to?: string | null } = {},
  ): Promise<Answer> {
    const { port } = new URL(server.origin);
    const sent = {
      authorization: `Bearer ${token}`,
      ...(to !== null && { 'valetkey-account-id': to }),
      ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }),
      ...headers,
    };
    return new Promise((resolve, reject) => {
      const request = httpRequest(
        { host: '127.0.0.1', port, method, path: `/api/v1/proxy${target}`, headers: { host: 'localhost', ...sent } },
        async (res) => {
          const chunks: Buffer[] = [];
          try {
            for await (const chunk of res) chunks.push(chunk as Buffer);
          } catch (error) {
            reject(error);
            return;
          }
          const text = Buffer.concat(chunks).toString();
          const isJson = /json/.test(String(res.headers['content-type']));
          resolve({
            status: res.statusCode ?? 0,
            headers: res.headers,
            text,
            body: isJson && text ? JSON.parse(text) : null,
          });
        },
      );
      request.on('error', reject);
      request.end(body);
    });
  }

  it('send method, path, query, headers and body unchanged, with the credential of the account', async () => {
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
      const body = method === 'GET' ? undefined : `<${method}/>`;
      const headers = { 'content-type': 'application/xml', 'x-custom': 'a b', 'idempotency-key': 'k-1' };
      const answer = await call(method, '/a%20b/c%3Ad?x=1&y=%26&list=1&list=2', { headers, ...(body && { body }) });
      expect(answer.status, answer.text).to.equal(200);
      const request = acme.requests.at(-1);
      expect(request).to.include({ method, target: '/base/a%20b/c%3Ad?x=1&y=%26&list=1&list=2', body: body ?? '' });
      expect(request?.headers).to.include({ ...headers, 'x-api-key': ACCOUNT_KEY });
    }
    expect((await call('HEAD', '/things')).text).to.equal('');
    expect(acme.requests.at(-1)?.method).to.equal('HEAD');
  });

  it("return the provider's response: status, type, headers, bytes", async () => {
    answering((_request, res) =>
      res.writeHead(418, { 'content-type': 'text/csv', etag: '"1"', link: '<x>' }).end('a;b\n'),
    );
    const answer = await call('GET', '/export');
    expect([answer.status, answer.text]).to.deep.equal([418, 'a;b\n']);
    expect(answer.headers).to.include({ 'content-type': 'text/csv', etag: '"1"', link: '<x>' });
    expect(answer.headers).to.include({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' });
  });

  it('can name the account by its owner, connector and identifier', async () => {
    const headers = {
      'valetkey-user-id': account['user_id'] as string,
      'valetkey-connector': provider.identifier,
      'valetkey-identifier': encodeURIComponent(account['identifier'] as string),
    };
    expect((await call('GET', '/things', { headers, to: null })).status).to.equal(200);
    const incomplete = await call('GET', '/things', { to: null });
    expect(incomplete.body).to.include({ status: 400, code: 'INCOMPLETE_ACCOUNT_KEY' });
    const other = { ...headers, 'valetkey-user-id': 'somebody' };
    expect((await call('GET', '/things', { headers: other })).body.code).to.equal('NOT_FOUND');
  });

  it('are recorded without contents', async () => {
    answering((_request, res) => json(res, 404, {}));
    const answer = await call('GET', '/none?secret=1', { headers: { 'valetkey-agent-run-id': 'run-9' } });
    const record = await finishedExecution(server, answer.headers['valetkey-execution-id'] as string);
    expect(record).to.include({
      tool_name: 'proxy',
      connected_account_id: id,
      agent_run_id: 'run-9',
      status: 'FAILED',
      error_kind: 'upstream_not_found',
      upstream_status: 404,
    });
  });

  describe("are limited to the account's provider (E1, E2, E3)", () => {
    for (const path of [
      '/../secret',
      '/%2e%2e/secret',
      '/a/%2E%2E/%2e%2e/b',
      '/a%2f..%2fb',
      '/a\\b',
      '/a%5cb',
      '//evil.example/a',
      '/a//b',
      '@evil.example/',
      '/a#part',
      '/%00',
    ]) {
      it(`below the base address, or are refused: ${JSON.stringify(path)}`, async () => {
        const answer = await call('GET', path);
        expect(answer.status, answer.text).to.be.oneOf([200, 400, 404]);
        for (const { target } of acme.requests) expect(target).to.match(/^\/base\/[^?#\\]*$/);
        for (const { target } of acme.requests) expect(decodeURIComponent(target)).not.to.match(/\.\.\/|\\/);
        expect(evil.requests).to.deep.equal([]);
      });
    }

    it('and follow no redirect, not even to an allowed host', async () => {
      for (const location of ['https://evil.example/x', '/base/moved']) {
        answering((_request, res) => res.writeHead(302, { location }).end());
        const answer = await call('GET', '/things');
        expect([answer.status, answer.headers.location]).to.deep.equal([302, location]);
        expect([acme.requests.length, evil.requests.length]).to.deep.equal([1, 0]);
      }
    });

    it("and do not forward the caller's other credentials or framing", async () => {
      const headers = {
        'x-api-key': 'mine',
        'X-API-KEY': 'mine',
        cookie: 'a=b',
        'proxy-authorization': 'x',
        'x-forwarded-host': 'evil.example',
        forwarded: 'for=evil',
        'x-http-method-override': 'DELETE',
        te: 'trailers',
        connection: 'x-hop',
        'x-hop': '1',
        origin: 'https://evil.example',
        'accept-encoding': 'gzip',
      };
      expect((await call('GET', '/things', { headers })).status).to.equal(200);
      const [request] = acme.requests;
      expect(request?.headers).to.include({ 'x-api-key': ACCOUNT_KEY, 'accept-encoding': 'identity' });
      const gone = [
        'authorization',
        'cookie',
        'proxy-authorization',
        'x-forwarded-host',
        'forwarded',
        'te',
        'x-hop',
        'origin',
      ];
      expect(request?.headers).not.to.have.any.keys(...gone, 'x-http-method-override', 'valetkey-account-id');
      expect(request?.headers['host']).to.equal(`127.0.0.1:${acme.port}`);
    });
  });

  describe('return only headers for the caller (E5)', () => {
    it('without cookies, challenges or browser policies', async () => {
      answering((_request, res) =>
        json(
          res,
          403,
          {},
          {
            'set-cookie': 'a=b',
            'www-authenticate': 'Basic',
            'strict-transport-security': 'max-age=1',
            'access-control-allow-origin': '*',
            'content-security-policy': 'default-src *',
            'valetkey-execution-id': 'forged',
            'cache-control': 'public',
            'x-kept': 'yes',
          },
        ),
      );
      const { status, headers } = await call('GET', '/things');
      expect(status).to.equal(403);
      expect(headers).to.include({ 'x-kept': 'yes', 'cache-control': 'no-store' });
      expect(headers).not.to.have.any.keys(
        'set-cookie',
        'www-authenticate',
        'strict-transport-security',
        'access-control-allow-origin',
      );
      expect(headers['content-security-policy']).to.contain('sandbox');
      expect(headers['valetkey-execution-id']).to.match(/^exec_/);
    });

    it('without the credential, even if a response repeats it across chunks', async () => {
      const encoded = Buffer.from(`x:${ACCOUNT_KEY}`).toString('base64');
      for (const size of [1, 5, 1000]) {
        answering(async ({ headers }, res) => {
          const text = `ü ${headers['x-api-key']} and ${encoded} and ${headers['x-api-key']?.slice(0, 10)}`;
          res.writeHead(200, { 'content-type': 'text/plain', 'x-echo': headers['x-api-key'] ?? '' });
          for (let at = 0; at < text.length; at += size) {
            res.write(text.slice(at, at + size));
            await new Promise((resolve) => setImmediate(resolve));
          }
          res.end();
        });
        const answer = await call('GET', '/echo');
        expect(answer.text, String(size)).to.match(/^ü \[secret\] and .*\[secret\].* and acme-key-0$/);
        expect(JSON.stringify(answer.headers)).not.to.contain(ACCOUNT_KEY);
      }
    });

    it('with 502 for a compressed response, which cannot be searched for secrets', async () => {
      answering((_request, res) => res.writeHead(200, { 'content-encoding': 'gzip' }).end(Buffer.from([31, 139])));
      const answer = await call('GET', '/zip');
      expect(answer.body).to.include({ status: 502, code: 'TOOL_FAILED' });
      expect(answer.body.tool_error.kind).to.equal('upstream_invalid_response');
    });
  });

  it('give a short response its length, which follows the removal of secrets', async () => {
    answering((_request, res) => json(res, 200, { echo: ACCOUNT_KEY }));
    const { headers, text, body } = await call('GET', '/echo');
    expect(body).to.deep.equal({ echo: '[secret]' });
    expect(headers['content-length']).to.equal(String(Buffer.byteLength(text)));
    expect(headers).to.not.have.property('transfer-encoding');
  });

  for (const [method, status] of [
    ['HEAD', 200],
    ['GET', 204],
    ['GET', 304],
  ] as const) {
    it(`claim no length for ${method} with status ${status}, which has no body`, async () => {
      answering((_request, res) => void res.writeHead(status).end());
      const answer = await call(method, '/empty');
      expect(answer).to.include({ status, text: '' });
      expect(answer.headers).to.not.have.property('content-length');
    });
  }

  it('forward a response as it arrives', async () => {
    let finish = (): void => {};
    answering((_request, res) => {
      res.writeHead(200, { 'content-type': 'text/plain' });
      res.write('x'.repeat(4096));
      finish = () => res.end('end');
    });
    const response = await fetch(`${server.origin}/api/v1/proxy/slow`, {
      headers: { authorization: `Bearer ${token}`, 'valetkey-account-id': id },
    });
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    const first = await reader.read();
    expect(first.value?.length).to.be.greaterThan(1000);
    finish();
    let last = '';
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
      last = Buffer.from(piece.value).toString();
    }
    expect(last).to.match(/end$/);
  });

  it('are aborted when a response is endless or stalls, and return 504 when no response arrives (E4)', async () => {
    egress = impatient;
    answering((_request, res) => {
      res.writeHead(200);
      for (let sent = 0; sent < 20; sent++) res.write(Buffer.alloc(16 * 1024));
    });
    const endless = await call('GET', '/endless').then(
      () => 'whole',
      () => 'cut',
    );
    expect(endless).to.equal('cut');
    answering((_request, res) => res.writeHead(200).write('x'));
    expect(
      await call('GET', '/still').then(
        () => 'whole',
        () => 'cut',
      ),
    ).to.equal('cut');
    answering(() => {});
    const silent = await call('GET', '/silent');
    expect(silent.body).to.include({ status: 504, code: 'TOOL_TIMEOUT' });
    egress = patient;
    answering((_request, res) => json(res, 200, {}));
    expect((await call('GET', '/well')).status).to.equal(200);
  });

  describe('are refused', () => {
    it('without a token or the scope (T7)', async () => {
      const none = await call('GET', '/things', { headers: { authorization: '' } });
      expect(none.body).to.include({ status: 401, code: 'UNAUTHENTICATED' });
      const narrow = await server.token('tools:execute');
      const weak = await call('GET', '/things', { headers: { authorization: `Bearer ${narrow}` } });
      expect(weak.body).to.include({ status: 403, code: 'INSUFFICIENT_SCOPE' });
      expect(weak.headers['www-authenticate']).to.contain('scope="proxy"');
      expect(acme.requests).to.deep.equal([]);
    });

    it('for other methods, with a list of the allowed ones', async () => {
      const answer = await call('OPTIONS', '/things');
      expect(answer.body).to.include({ status: 405, code: 'METHOD_NOT_ALLOWED' });
      expect(answer.headers.allow).to.equal('GET, HEAD, POST, PUT, PATCH, DELETE');
    });

    it('for accounts of another environment as for unknown ones (C1)', async () => {
      const other = await addSecondEnvironment(server);
      const foreign = await createKeyedAccount(other);
      const answers = [];
      for (const to of [foreign.id, unknownId('ca')]) {
        const { status, body } = await call('GET', '/things', { to });
        answers.push({ status, ...body, request_id: '' });
      }
      expect(answers[0]).to.deep.equal(answers[1]);
      expect(answers[0]?.status).to.equal(404);
    });

    it('with a body of more than 10 MiB', async () => {
      const answer = await call('POST', '/x', { body: Buffer.alloc(10 * 1024 * 1024 + 1) }).catch(() => null);
      if (answer) expect(answer.body).to.include({ status: 413, code: 'BODY_TOO_LARGE' });
      expect(acme.requests).to.deep.equal([]);
    });

    it('if the connection allows only certain tools', async () => {
      const connection = account['connection_id'] as string;
      const limit = (allowed_tools: string[] | null) =>
        server.call('PUT', `/api/v1/connections/${connection}`, { body: { allowed_tools } });
      const limited = await limit(['http_get']);
      expect(limited.status, limited.text).to.equal(200);
      expect((await call('GET', '/things')).body).to.include({ status: 403, code: 'TOOL_NOT_ALLOWED' });
      expect(acme.requests).to.deep.equal([]);
      expect((await limit(['http_get', 'proxy'])).status).to.equal(200);
      expect((await call('GET', '/things')).status).to.equal(200);
      await limit(null);
      expect((await call('GET', '/things')).status).to.equal(200);
    });
  });
});
