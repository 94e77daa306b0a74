import { expect } from 'chai';
import type { Egress } from '../../core/net/egress.ts';
import { createEgress } from '../../core/net/egress.ts';
import { EgressPolicy } from '../../core/net/policy.ts';
import { parseEndpointOverrides } from '../../core/net/policy-settings.ts';
import { freePort } from '../../scripts/demo/process.ts';
import { execute, finishedExecution } from '../support/execute.ts';
import { ACCOUNT_KEY, createKeyedAccount, KEYED_ORIGIN } from '../support/keyed-api.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';
import type { Upstream, UpstreamHandler } from '../support/upstream.ts';
import { json, startUpstream } from '../support/upstream.ts';

const LIMITS = { maxBytes: 256 * 1024 };
/** Limits for the tests of timeouts only, because calls of other tests can take longer on a busy machine. */
const IMPATIENT = { ...LIMITS, timeoutMs: 300, idleTimeoutMs: 150 };

/** Calls in which the application or the caller is malicious. */
describe('an execution on the wire', () => {
  let acme: Upstream;
  let evil: Upstream;
  let server: TestServer;
  let patient: Egress;
  let impatient: Egress;
  let egress: Egress;
  let id: string;

  const get = (path = '/things', input: Record<string, unknown> = {}) =>
    execute(server, id, 'http_get', { path, ...input });
  const answering = (handler: UpstreamHandler) => {
    acme.handler = handler;
    acme.requests.length = 0;
    evil.requests.length = 0;
  };

  before(async () => {
    acme = await startUpstream();
    evil = await startUpstream();
    const overrides = [acme.endpointOverride(KEYED_ORIGIN), evil.endpointOverride('https://evil.example')].join(',');
    const policy = new EgressPolicy({ allow: [], overrides: parseEndpointOverrides(overrides) });
    patient = createEgress(policy, { limits: LIMITS });
    impatient = createEgress(policy, { limits: IMPATIENT });
    egress = patient;
    server = await startTestServer({ overrides: { egressOf: () => egress } });
    ({ id } = await createKeyedAccount(server, { path: '/base' }));
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

  describe('the request (E1, E2)', () => {
    for (const path of [
      '/../secret',
      '/a/../../secret',
      '/./a',
      '/%2e%2e/secret',
      '/a%2fb',
      '/a%2Fb',
      '/a\\b',
      '/a%5cb',
      '//evil.example/a',
      '/a?x=1',
      '/a#part',
      '/a\r\nX-Injected: 1',
      '/a\u0000b',
      'a',
      'https://evil.example/a',
      '/\u202ea',
    ]) {
      it(`stays below the base address, or is refused: ${JSON.stringify(path)}`, async () => {
        const answer = await get(path);
        expect(answer.status, answer.text).to.be.oneOf([200, 400]);
        for (const request of acme.requests) {
          expect(request.target).to.match(/^\/base\/[^?#\\]*$/);
          expect(decodeURIComponent(request.target)).not.to.match(/\.\.\/|\\|[\r\n\0]/);
          expect(request.headers).not.to.have.property('x-injected');
        }
        if (answer.status === 400) expect(answer.body.errors[0].field).to.match(/^tool_input/);
        expect(evil.requests).to.deep.equal([]);
      });
    }

    for (const name of [
      'authorization',
      'Authorization',
      'x-api-key',
      'X-API-KEY',
      'cookie',
      'host',
      'proxy-authorization',
      'connection',
      'content-length',
      'transfer-encoding',
      'te',
      'upgrade',
      'x-forwarded-host',
      'accept\r\nx-injected',
    ]) {
      it(`never sends the caller's header ${JSON.stringify(name)} in place of the account's`, async () => {
        const answer = await get('/things', { headers: { [name]: 'of-the-caller' } });
        expect(answer.status, answer.text).to.be.oneOf([200, 400]);
        for (const request of acme.requests) {
          expect(request.headers['x-api-key']).to.equal(ACCOUNT_KEY);
          expect(request.headers['host']).to.equal(`127.0.0.1:${acme.port}`);
          expect(request.headers).not.to.have.any.keys('authorization', 'cookie', 'x-injected', 'proxy-authorization');
          const names = request.headerNames.map((one) => one.toLowerCase());
          expect(names.filter((one, index) => names.indexOf(one) !== index)).to.deep.equal([]);
        }
      });
    }

    it('refuses a value that would split the request', async () => {
      for (const value of ['a\r\nx-injected: 1', 'a\nb', 'a\u0000b']) {
        const answer = await get('/things', { headers: { accept: value } });
        expect(answer.status, JSON.stringify(value)).to.equal(400);
      }
      expect(acme.requests).to.deep.equal([]);
    });

    it('sends query values encoded', async () => {
      await get('/things', { query: { 'a&b': 'c=d', list: ['1', '2&api_key=x'], empty: '' } });
      const { search } = new URL(acme.requests[0]?.target ?? '', 'http://x');
      expect([...new URLSearchParams(search)]).to.deep.equal([
        ['a&b', 'c=d'],
        ['list', '1'],
        ['list', '2&api_key=x'],
        ['empty', ''],
      ]);
    });
  });

  describe('redirects (E3)', () => {
    for (const status of [301, 302, 303, 307, 308]) {
      for (const [where, location] of [
        ['another host', 'https://evil.example/steal'],
        ['another host without a scheme', '//evil.example/steal'],
        ['plain http of the same host', 'http://api.acme.example/base/steal'],
        ['another port', 'https://api.acme.example:8443/steal'],
      ]) {
        it(`are not followed to ${where} (${status})`, async () => {
          answering((_request, res) => res.writeHead(status, { location }).end());
          const answer = await execute(server, id, 'http_post', { path: '/things', body: { a: 1 } });
          expect(answer.body).to.include({ status: 502, code: 'TOOL_FAILED' });
          expect(answer.body.tool_error).to.include({ kind: 'upstream_invalid_response', upstream_status: status });
          expect([acme.requests.length, evil.requests.length]).to.deep.equal([1, 0]);
        });
      }
    }

    it('are followed on the same origin, with the credential', async () => {
      answering((request, res) =>
        request.target === '/base/things'
          ? res.writeHead(307, { location: '/base/moved' }).end()
          : json(res, 200, { at: request.target }),
      );
      expect((await get()).body.data).to.deep.equal({ at: '/base/moved' });
      expect(acme.requests.map((request) => request.headers['x-api-key'])).to.deep.equal([ACCOUNT_KEY, ACCOUNT_KEY]);
    });

    it('are limited in number', async () => {
      answering((_request, res) => res.writeHead(302, { location: '/base/things' }).end());
      expect((await get()).body.tool_error.kind).to.equal('upstream_invalid_response');
      expect(acme.requests).to.have.length(4);
    });
  });

  describe('a credential that the application echoes (E5)', () => {
    const forms = (key: string) => [key, encodeURIComponent(key), Buffer.from(key).toString('base64')];

    for (const [what, status] of [
      ['in a result', 200],
      ['in an error', 400],
    ] as const) {
      it(`is removed ${what}`, async () => {
        answering(({ headers }, res) => {
          const key = headers['x-api-key'] ?? '';
          json(res, status, { message: `bad key ${key}`, [key]: forms(key), nested: { deep: [`x${key}y`] } });
        });
        const answer = await get();
        expect(answer.text).to.include('[secret]');
        for (const form of forms(ACCOUNT_KEY)) expect(answer.text).not.to.include(form);
      });
    }

    it('is removed from text, from a page link and from the log', async () => {
      answering(({ headers }, res) => {
        res.writeHead(200, {
          'content-type': 'text/plain',
          link: `<https://x/?k=${headers['x-api-key']}>; rel="next"`,
        });
        res.end(`key=${headers['x-api-key']}`);
      });
      const answer = await get();
      expect(answer.body.data).to.equal('key=[secret]');
      expect(JSON.stringify([answer.text, ...server.logs])).not.to.include(ACCOUNT_KEY);
    });

    it('is removed from the response stored for an idempotency key', async () => {
      answering(({ headers }, res) => json(res, 200, { key: headers['x-api-key'] }));
      const request = { headers: { 'idempotency-key': 'echo-1' } };
      await execute(server, id, 'http_get', { path: '/echo' }, request);
      const replayed = await execute(server, id, 'http_get', { path: '/echo' }, request);
      expect(replayed.headers['idempotency-replayed']).to.equal('true');
      expect(replayed.body.data).to.deep.equal({ key: '[secret]' });
    });
  });

  describe('an application that rejects a call', () => {
    for (const [status, kind, retryable] of [
      [400, 'upstream_bad_request', false],
      [401, 'upstream_auth', false],
      [403, 'upstream_forbidden', false],
      [404, 'upstream_not_found', false],
      [409, 'upstream_conflict', false],
      [422, 'upstream_bad_request', false],
      [429, 'upstream_rate_limited', true],
      [500, 'upstream_server_error', true],
      [503, 'upstream_server_error', true],
    ] as const) {
      it(`${status} is ${kind}`, async () => {
        answering((_request, res) => json(res, status, { message: 'no' }, { 'retry-after': '7' }));
        const answer = await get();
        expect(answer.body).to.include({ status: 502, code: 'TOOL_FAILED' });
        const { tool_error: error, execution_id: executionId } = answer.body;
        expect(error).to.deep.include({ kind, retryable, upstream_status: status, upstream_body: { message: 'no' } });
        if (status === 429) expect(error.retry_after_ms).to.equal(7000);
        expect(answer.headers['retry-after'], 'F10: when a repetition is safe').to.equal(retryable ? '7' : undefined);
        expect(await finishedExecution(server, executionId)).to.include({ status: 'FAILED', error_kind: kind });
        expect(acme.requests).to.have.length(1);
      });
    }

    it('marks a call that may have had an effect as not retryable', async () => {
      answering((_request, res) => json(res, 500, {}, { 'retry-after': '7' }));
      const answer = await execute(server, id, 'http_post', { path: '/things', body: {} });
      expect(answer.body.tool_error).to.include({ kind: 'upstream_server_error', retryable: false });
      expect(answer.headers['retry-after']).to.equal(undefined);
      expect(acme.requests).to.have.length(1);
    });
  });

  describe('an application that fails or is slow (E4)', () => {
    it('returns 504 when it does not respond in time', async () => {
      egress = impatient;
      answering(() => {});
      const answer = await get();
      expect(answer.body).to.include({ status: 504, code: 'TOOL_TIMEOUT' });
      expect(answer.body.tool_error).to.deep.include({
        kind: 'upstream_timeout',
        retryable: true,
        upstream_status: null,
      });
      const record = await finishedExecution(server, answer.body.execution_id);
      expect(record).to.include({ status: 'FAILED', error_kind: 'upstream_timeout', upstream_status: null });
    });

    it('returns 504 when it stops in the middle, and a call with an effect is not retryable then', async () => {
      egress = impatient;
      answering((_request, res) => res.writeHead(200, { 'content-type': 'application/json' }).write('{"a":'));
      const answer = await execute(server, id, 'http_post', { path: '/things', body: {} });
      expect(answer.body).to.include({ status: 504, code: 'TOOL_TIMEOUT' });
      expect(answer.body.tool_error.retryable).to.equal(false);
      expect(acme.requests).to.have.length(1);
    });

    for (const [what, handler] of [
      ['too large', (_request, res) => json(res, 200, { text: 'x'.repeat(300 * 1024) })],
      [
        'not the JSON that it says it is',
        (_request, res) => res.writeHead(200, { 'content-type': 'application/json' }).end('{'),
      ],
    ] as [string, UpstreamHandler][]) {
      it(`returns 502 when the response is ${what}`, async () => {
        answering(handler);
        const answer = await get();
        expect(answer.body).to.include({ status: 502, code: 'TOOL_FAILED' });
        expect(answer.body.tool_error).to.include({ kind: 'upstream_invalid_response' });
      });
    }

    it('returns 502 when it closes the connection, once for a call with an effect and after three attempts for a read', async () => {
      answering((_request, res) => res.destroy());
      const read = await get();
      expect(read.body.tool_error).to.include({ kind: 'upstream_unreachable', retryable: true });
      expect(acme.requests).to.have.length(3);
      answering((_request, res) => res.destroy());
      const acted = await execute(server, id, 'http_post', { path: '/things', body: {} });
      expect(acted.body.tool_error).to.include({ kind: 'upstream_unreachable', retryable: false });
      expect(acme.requests).to.have.length(1);
    });

    it('reports what was removed from a large result', async () => {
      answering((_request, res) =>
        json(
          res,
          200,
          Array.from({ length: 2000 }, (_, n) => ({ n, text: 'x'.repeat(80) })),
        ),
      );
      const answer = await get();
      expect(answer.status, answer.text.slice(0, 300)).to.equal(200);
      expect(answer.body.truncated).to.equal(true);
      expect(answer.body.truncation.statement).to.be.a('string');
      expect(Buffer.byteLength(answer.text)).to.be.below(100 * 1024);
    });
  });

  it('returns 502 when nothing listens there: the call was never sent, so it may be tried again', async () => {
    const port = await freePort();
    const policy = new EgressPolicy({
      allow: [],
      overrides: [{ origin: KEYED_ORIGIN, target: `http://127.0.0.1:${port}` }],
    });
    const nowhere = createEgress(policy, { limits: LIMITS });
    const lonely = await startTestServer({ overrides: { egressOf: () => nowhere } });
    try {
      const account = await createKeyedAccount(lonely);
      const answer = await execute(lonely, account.id, 'http_post', { path: '/things', body: {} });
      expect(answer.body).to.include({ status: 502, code: 'TOOL_FAILED' });
      expect(answer.body.tool_error).to.include({
        kind: 'upstream_unreachable',
        retryable: true,
        upstream_status: null,
      });
    } finally {
      await lonely.stop();
      await nowhere.close();
    }
  });

  it('returns 502 blocked_by_egress_policy for a forbidden address (P1)', async () => {
    const strict = await startTestServer();
    try {
      const account = await strict.call('POST', '/api/v1/connected_accounts', {
        body: {
          connector: 'http',
          identifier: 'a',
          user_id: 'u',
          connected_account: {
            api_config: { base_url: `http://127.0.0.1:${acme.port}` },
            authorization_details: { static_auth: { details: { api_key: 'key-000000' } } },
          },
        },
      });
      expect(account.status, account.text).to.equal(201);
      acme.requests.length = 0;
      const before = acme.connections;
      const answer = await execute(strict, account.body.connected_account.id, 'http_get', { path: '/' });
      expect(answer.body.tool_error).to.include({ kind: 'blocked_by_egress_policy', retryable: false });
      expect(acme.connections).to.equal(before);
    } finally {
      await strict.stop();
    }
  });
});
