import { expect } from 'chai';
import { StorageError } from '../../db/store.ts';
import { wrap } from '../../wiring/overrides.ts';
import { testClock } from '../support/clock.ts';
import { type FaultPlace, type FaultSwitch, failingStore } from '../support/failing-store.ts';
import { createKeyedAccount, KEYED_ORIGIN } from '../support/keyed-api.ts';
import { allowVerifyUrls, keyConnector, makeLink, VERIFY_URL } from '../support/links.ts';
import { rawMcp, sessionToken } from '../support/mcp.ts';
import { NO_BACKGROUND } from '../support/no-background.ts';
import { createConnection } from '../support/providers.ts';
import type { TestRequest, TestResponse, TestServer } from '../support/server.ts';
import { CLIENT_ID, startTestServer } from '../support/server.ts';
import { json, startUpstream, type Upstream } from '../support/upstream.ts';

const KB = 1024;
const DETAIL = 'secret detail of a fault';
const TARGET = '/api/v1/proxy/anything';
const FORM = 'application/x-www-form-urlencoded';

/** An entry point of the server, with the requests that the tests need. */
interface EntryPointUnderTest {
  name: string;
  /** Sends a request that succeeds; headers are added. */
  ask(headers?: Record<string, string>, token?: string | null): Promise<TestResponse>;
  /** The operation that the log names for the request of `ask`. */
  operation: string;
  /** Checks that a response is this error: by its code, or on a page by its text. */
  shows(answer: TestResponse, code: string, text: RegExp): void;
  /** A path below the entry point that does not exist. */
  nothing: string;
  /** A method that a path of the entry point does not support, and the methods that it supports. */
  otherMethod: [method: string, path: string, allow: string];
  /** A path that supports GET; null if none does. */
  get: string | null;
  /** A path that accepts a body by POST. */
  post(): string | Promise<string>;
  media: string;
  maxBytes: number;
  /** Headers that a request to `post` needs. */
  headers: Record<string, string>;
  token: string | null | undefined;
  /** The part of the storage that a test lets fail. */
  faultPlace: FaultPlace;
  /** Sends a request that uses this part of the storage. */
  askStorage(headers: Record<string, string>): Promise<TestResponse>;
}

describe('the entry points of the server', () => {
  const clock = testClock();
  const fault: FaultSwitch = { place: undefined, error: () => new Error(DETAIL) };
  let acme: Upstream;
  let server: TestServer;
  let session: string;
  let connection: string;
  let account: string;
  let keyed: string;

  before(async () => {
    acme = await startUpstream((_request, res) => json(res, 200, { ok: true }));
    server = await startTestServer({
      env: { VALETKEY_ENDPOINT_OVERRIDES: acme.endpointOverride(KEYED_ORIGIN), VALETKEY_RATE_LIMIT: '20' },
      overrides: { ...NO_BACKGROUND, now: clock.now, store: wrap((store) => failingStore(store, fault)) },
    });
    account = (await createKeyedAccount(server)).id;
    connection = (await createConnection(server, { connector: 'github' })).id;
    session = await sessionToken(server, connection);
    await allowVerifyUrls(server, VERIFY_URL);
    keyed = await keyConnector(server);
  });
  beforeEach(() => {
    clock.advance(1_000);
    server.logs.length = 0;
  });
  afterEach(() => {
    fault.place = undefined;
  });
  after(async () => {
    await server.stop();
    await acme.stop();
  });

  const problem: EntryPointUnderTest['shows'] = ({ body, headers }, code) => {
    expect(headers['content-type']).to.equal('application/problem+json');
    expect(body).to.include({ code, request_id: headers['x-request-id'] });
  };
  // A page shows only translated sentences, which are fewer than the codes.
  const sentences: Record<string, RegExp> = {
    METHOD_NOT_ALLOWED: /The page does not support this kind of request\./,
    BODY_TOO_LARGE: /could not be understood/,
    UNSUPPORTED_MEDIA_TYPE: /could not be understood/,
  };
  const page: EntryPointUnderTest['shows'] = ({ text, headers }, code, words) => {
    expect(headers['content-type']).to.equal('text/html; charset=utf-8');
    expect(text)
      .to.match(sentences[code] ?? words)
      .and.to.include(String(headers['x-request-id']));
  };
  const jsonRpc: EntryPointUnderTest['shows'] = ({ body, headers }, code) => {
    expect(headers['content-type']).to.equal('application/json');
    expect(body).to.include({ jsonrpc: '2.0', id: null });
    expect(body.error.data).to.deep.equal({ code, request_id: headers['x-request-id'] });
  };

  const entryPoints = (): EntryPointUnderTest[] => [
    {
      name: 'the contract',
      ask: (headers = {}, token) => server.call('GET', '/api/v1/tools?page_size=1', { headers, ...given(token) }),
      operation: 'listTools',
      shows: problem,
      nothing: '/api/v1/nothing',
      otherMethod: ['PATCH', '/api/v1/connections', 'GET, HEAD, POST'],
      get: '/api/v1/tools?page_size=1',
      post: () => '/api/v1/connections',
      media: 'application/json',
      maxBytes: 256 * KB,
      headers: {},
      token: undefined,
      faultPlace: 'client',
      askStorage: (headers) => (entryPoints()[0] as EntryPointUnderTest).ask(headers),
    },
    {
      name: 'the pages',
      ask: (headers = {}) => server.call('GET', '/connect/connected', { headers, token: null }),
      operation: 'connectedPage',
      shows: page,
      nothing: '/connect/no/page',
      otherMethod: ['DELETE', '/connect/connected', 'GET, HEAD'],
      get: '/connect/connected',
      post: linkPath,
      media: FORM,
      maxBytes: 256 * KB,
      headers: {},
      token: null,
      faultPlace: 'read',
      askStorage: (headers) => server.call('GET', `/connect/${'a'.repeat(43)}`, { headers, token: null }),
    },
    {
      name: 'MCP',
      ask: (headers = {}, token = session) => rawMcp(server, connection, { token, headers }),
      operation: 'mcp',
      shows: jsonRpc,
      nothing: '/mcp/no/server',
      otherMethod: ['PATCH', `/mcp/${connection}`, 'POST'],
      get: null,
      post: () => `/mcp/${connection}`,
      media: 'application/json',
      maxBytes: 256 * KB,
      headers: {},
      token: session,
      faultPlace: 'client',
      askStorage: (headers) => (entryPoints()[2] as EntryPointUnderTest).ask(headers),
    },
    {
      name: 'raw calls',
      ask: (headers = {}, token) =>
        server.call('GET', TARGET, { headers: { 'valetkey-account-id': account, ...headers }, ...given(token) }),
      operation: 'proxy',
      shows: problem,
      // Raw calls have no unknown path, because every path belongs to the provider.
      nothing: '',
      otherMethod: ['OPTIONS', TARGET, 'GET, HEAD, POST, PUT, PATCH, DELETE'],
      get: TARGET,
      post: () => TARGET,
      media: '',
      maxBytes: 10 * KB * KB,
      headers: { 'valetkey-account-id': account },
      token: undefined,
      faultPlace: 'client',
      askStorage: (headers) => (entryPoints()[3] as EntryPointUnderTest).ask(headers),
    },
  ];
  const given = (token: string | null | undefined) => (token === undefined ? {} : { token });
  const NAMES = ['the contract', 'the pages', 'MCP', 'raw calls'];

  /** The path of a link that is open. */
  const linkPath = async () => new URL(await makeLink(server, { connector: keyed })).pathname;
  /** The lines of requests, without those of other events. */
  const requestLines = () => server.logs.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'request');
  const send = ({ token }: EntryPointUnderTest, method: string, path: string, request: TestRequest = {}) =>
    server.call(method, path, { ...given(token), ...request });

  for (const [index, name] of NAMES.entries()) {
    describe(name, () => {
      let entryPoint: EntryPointUnderTest;

      before(() => {
        entryPoint = entryPoints()[index] as EntryPointUnderTest;
      });

      it('return the request id that was sent if it is safe for logs, and create one otherwise', async () => {
        const sent = await entryPoint.ask({ 'x-request-id': 'trace-1.a_B' });
        expect([sent.status, sent.headers['x-request-id']]).to.deep.equal([200, 'trace-1.a_B']);
        for (const bad of ['a b', 'x'.repeat(101), '{"a":1}']) {
          expect((await entryPoint.ask({ 'x-request-id': bad })).headers['x-request-id']).to.match(
            /^req_[0-9a-z]{26}$/,
          );
        }
      });

      it('write one line to the log for each request, with the same members', async () => {
        await entryPoint.ask({ 'x-request-id': 'run-1' });
        const [line, ...more] = requestLines();
        expect(more).to.deep.equal([]);
        expect(line).to.have.all.keys('level', 'time', 'operation', 'status', 'ms', 'request_id', 'msg');
        expect(line).to.include({ operation: entryPoint.operation, status: 200, request_id: 'run-1' });
      });

      it('count each request in the metrics by its operation and status', async () => {
        const count = async () => {
          const text = await server.parts.metrics.registry.metrics();
          const labels = `operation="${entryPoint.operation}",status="200"`;
          const metric = `valetkey_http_request_duration_seconds_count{${labels}}`;
          return Number(
            text
              .split('\n')
              .find((each) => each.startsWith(metric))
              ?.slice(metric.length) ?? 0,
          );
        };
        const earlier = await count();
        await entryPoint.ask();
        expect(await count()).to.equal(earlier + 1);
      });

      it('send headers that prevent caching by others', async () => {
        for (const answer of [await entryPoint.ask(), await entryPoint.ask({ host: 'unknown.example' })]) {
          expect(answer.headers).to.include({
            'cache-control': 'no-store',
            'referrer-policy': 'no-referrer',
            'x-content-type-options': 'nosniff',
          });
          expect(answer.headers['content-security-policy']).to.include("default-src 'none'");
          expect(answer.headers['content-security-policy']).to.include("frame-ancestors 'none'");
          expect(answer.headers).not.to.have.any.keys('x-powered-by', 'etag', 'server');
        }
      });

      it('return 421 for a host of no environment', async () => {
        const answer = await entryPoint.ask({ host: 'unknown.example' });
        expect(answer.status).to.equal(421);
        entryPoint.shows(answer, 'UNKNOWN_HOST', /host/);
      });

      // Any path of a raw call belongs to the provider.
      if (name !== 'raw calls') {
        it('return 404 for an unknown path', async () => {
          const answer = await send(entryPoint, 'GET', entryPoint.nothing);
          expect(answer.status).to.equal(404);
          entryPoint.shows(answer, 'NOT_FOUND', /<h1>Page not found<\/h1>\s*<p>This page does not exist/);
        });
      }

      it('return 405 with Allow for another method', async () => {
        const [method, path, allow] = entryPoint.otherMethod;
        const answer = await send(entryPoint, method, path);
        expect(answer.status).to.equal(405);
        expect(String(answer.headers['allow']).split(', ').toSorted()).to.deep.equal(allow.split(', ').toSorted());
        entryPoint.shows(answer, 'METHOD_NOT_ALLOWED', /method/);
      });

      it('return the headers of GET without a body for HEAD', async () => {
        if (entryPoint.get === null) {
          const refused = await send(entryPoint, 'HEAD', await entryPoint.post());
          expect([refused.status, refused.text, refused.headers['allow']]).to.deep.equal([405, '', 'POST']);
          return;
        }
        const get = await send(entryPoint, 'GET', entryPoint.get, { headers: entryPoint.headers });
        const head = await send(entryPoint, 'HEAD', entryPoint.get, { headers: entryPoint.headers });
        expect([get.status, head.status, head.text]).to.deep.equal([200, 200, '']);
        expect(head.headers['content-type']).to.equal(get.headers['content-type']);
      });

      it('return 413 for a body that is too large, and close the connection', async () => {
        const path = await entryPoint.post();
        const body = 'x'.repeat(entryPoint.maxBytes + 1);
        const headers = { ...entryPoint.headers, ...(entryPoint.media && { 'content-type': entryPoint.media }) };
        const answer = await send(entryPoint, 'POST', path, { body, headers });
        expect(answer.status).to.equal(413);
        expect(answer.headers['connection']).to.equal('close');
        entryPoint.shows(answer, 'BODY_TOO_LARGE', /larger than/);
      });

      // The provider validates the body of a raw call.
      if (name !== 'raw calls') {
        it('return 415 for another media type', async () => {
          const path = await entryPoint.post();
          const answer = await send(entryPoint, 'POST', path, { body: 'a', headers: { 'content-type': 'text/csv' } });
          expect(answer.status).to.equal(415);
          entryPoint.shows(answer, 'UNSUPPORTED_MEDIA_TYPE', /must be/);
        });
      }

      it('return the remaining rate limit, and 429 with Retry-After when it is used up', async () => {
        const answers = [];
        for (let sent = 0; sent < 21; sent++) answers.push(await entryPoint.ask());
        expect(answers.map(({ status }) => status)).to.deep.equal([...Array(20).fill(200), 429]);
        expect(answers[0]?.headers).to.include({ 'ratelimit-policy': '"client";q=20;w=1' });
        expect(answers[0]?.headers['ratelimit']).to.equal('"client";r=19;t=1');
        const refused = answers[20] as TestResponse;
        expect(refused.headers).to.include({ ratelimit: '"client";r=0;t=1', 'retry-after': '1' });
        entryPoint.shows(refused, 'RATE_LIMITED', /Too many requests/);
      });

      it('return 503 with Retry-After while the storage fails, and 500 for an internal error, without details', async () => {
        for (const [error, status, code] of [
          [new StorageError(`SQLITE_FULL ${name}`, DETAIL), 503, 'STORAGE_UNAVAILABLE'],
          [new Error(DETAIL), 500, 'INTERNAL_ERROR'],
        ] as const) {
          server.logs.length = 0;
          Object.assign(fault, { place: entryPoint.faultPlace, error: () => error });
          const answer = await entryPoint.askStorage({ 'x-request-id': 'run-2' });
          fault.place = undefined;
          expect(answer.status).to.equal(status);
          expect(answer.headers['retry-after']).to.equal(status === 503 ? '5' : undefined);
          expect(answer.text).not.to.include(DETAIL);
          entryPoint.shows(answer, code, /Something went wrong/);
          const line = server.logs.map((each) => JSON.parse(each)).find(({ msg }) => msg === 'request failed');
          expect(line).to.include({ request_id: 'run-2' });
          expect(line.err.message).to.equal(DETAIL);
        }
      });

      // Pages have no access token.
      if (name !== 'the pages') {
        it('log why a request was not authenticated, and the client if it is known', async () => {
          expect((await entryPoint.ask({}, null)).status).to.equal(401);
          expect((await entryPoint.ask({}, 'vkm_not-a-token')).status).to.equal(401);
          const [none, bad] = requestLines();
          expect(none).to.include({ operation: entryPoint.operation, status: 401, auth_failure: 'no_token' });
          expect(bad).to.include({ operation: entryPoint.operation, status: 401 });
          expect(bad.auth_failure).to.be.oneOf(['malformed', 'token']);
          expect([none, bad]).to.satisfy((lines: object[]) => lines.every((line) => !('client_id' in line)));
          expect(server.logs.join('')).not.to.include('not-a-token');
        });
      }
    });
  }

  it('share one rate limit for each client, and another one for each address', async () => {
    const [contract, pages, mcp, raw] = entryPoints() as [
      EntryPointUnderTest,
      EntryPointUnderTest,
      EntryPointUnderTest,
      EntryPointUnderTest,
    ];
    for (let round = 0; round < 7; round++) for (const entryPoint of [contract, mcp, raw]) await entryPoint.ask();
    const statuses = [];
    for (const entryPoint of [contract, mcp, raw]) statuses.push((await entryPoint.ask()).status);
    expect(statuses).to.deep.equal([429, 429, 429]);
    expect((await pages.ask()).status).to.equal(200);
    const metadata = `/.well-known/oauth-protected-resource/mcp/${connection}`;
    for (let round = 0; round < 19; round++) await pages.ask();
    expect((await server.call('GET', metadata, { token: null })).status).to.equal(429);
  });

  it('log the client of a token that was valid before, and why it is refused', async () => {
    const expired = server.token('tools:read');
    clock.advance(3_600_000);
    await server.call('GET', '/api/v1/tools', { token: expired });
    await server.call('GET', TARGET, { token: expired });
    clock.advance(-3_600_000);
    await server.call('GET', '/api/v1/tools', { token: server.token('connections:read') });
    expect(
      requestLines().map(({ status, auth_failure, client_id }) => [status, auth_failure, client_id]),
    ).to.deep.equal([
      [401, 'expired', CLIENT_ID],
      [401, 'expired', CLIENT_ID],
      [403, 'scope', CLIENT_ID],
    ]);
  });

  it('log why the token endpoint refuses a client, and never the values sent as an id or a secret', async () => {
    const ask = (fields: Record<string, string>) =>
      server.call('POST', '/oauth/token', {
        token: null,
        body: new URLSearchParams({ grant_type: 'client_credentials', ...fields }).toString(),
        headers: { 'content-type': FORM },
      });
    await ask({ client_id: CLIENT_ID, client_secret: 'vks_a-guess' });
    await ask({ client_id: 'vks_pasted-into-the-wrong-field', client_secret: 'vks_a-guess' });
    await ask({});
    expect(requestLines().map(({ auth_failure, client_id }) => [auth_failure, client_id])).to.deep.equal([
      ['secret', CLIENT_ID],
      ['client_unknown', undefined],
      ['no_credentials', undefined],
    ]);
    expect(server.logs.join('')).not.to.match(/a-guess|pasted/);
  });
});
