import { expect } from 'chai';
import { RESPONSE, THREADS } from '../../core/budgets.ts';
import { createResponseReader } from '../../core/executions/response-reader.ts';
import { JobLimitError } from '../../core/threads/job.ts';
import { createThreadPool, type ThreadPool } from '../../core/threads/pool.ts';
import { execute } from '../support/execute.ts';
import { ACCOUNT_KEY, createKeyedAccount, KEYED_ORIGIN } from '../support/keyed-api.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

const LIMITS = { ...THREADS, ...RESPONSE };

describe('H7: a large response', () => {
  let acme: Upstream;
  let server: TestServer;
  let threads: ThreadPool;
  let id: string;
  let jobs: number;
  /** How the pool runs a job. Tests can replace it. */
  let run: ThreadPool['run'];

  before(async () => {
    acme = await startUpstream();
    threads = createThreadPool(LIMITS);
    const counting: ThreadPool = {
      run: (...args) => {
        jobs++;
        return run(...args);
      },
      close: threads.close,
    };
    server = await startTestServer({
      env: { VALETKEY_ENDPOINT_OVERRIDES: acme.endpointOverride(KEYED_ORIGIN) },
      overrides: { responses: createResponseReader(counting, Date.now) },
    });
    ({ id } = await createKeyedAccount(server));
  });
  beforeEach(() => {
    jobs = 0;
    acme.requests.length = 0;
    run = threads.run;
  });
  after(async () => {
    await server.stop();
    await threads.close();
    await acme.stop();
  });

  function respondWith(body: string | Buffer, type = 'application/json', status = 200): void {
    acme.handler = (_request, res) => res.writeHead(status, { 'content-type': type }).end(body);
  }

  const get = () => execute(server, id, 'http_get', { path: '/' });
  const zeros = (count: number) => `[${Array(count).fill('0').join()}]`;

  it('is read in a thread when it is long or holds many values, and a small one is not', async () => {
    const bodies = [
      [zeros(RESPONSE.inlineNodes - 2), 0],
      [zeros(RESPONSE.inlineNodes), 1],
      [`"${'a'.repeat(RESPONSE.inlineBytes - 2)}"`, 0],
      [`"${'a'.repeat(RESPONSE.inlineBytes)}"`, 1],
    ] as const;
    for (const [body, expected] of bodies) {
      jobs = 0;
      respondWith(body);
      const answer = await get();
      expect(answer.status, answer.text).to.equal(200);
      expect(jobs).to.equal(expected);
      expect(JSON.stringify(answer.body.data)).to.equal(body);
    }
  });

  it('is truncated, redacted and classified in the thread like any other', async () => {
    const list = Array.from({ length: 20_000 }, (_, at) => ({ at, echo: at === 3 ? ACCOUNT_KEY : 'nothing' }));
    respondWith(JSON.stringify(list));
    const answer = await get();
    expect(answer.body.truncated).to.equal(true);
    expect(answer.body.data[3]).to.deep.equal({ at: 3, echo: '[secret]' });
    expect(answer.text).not.to.contain(ACCOUNT_KEY);

    respondWith(`${'x'.repeat(100_000)} ${ACCOUNT_KEY}`, 'text/html', 400);
    const failure = await get();
    expect(failure.body.tool_error).to.include({ kind: 'upstream_bad_request', upstream_status: 400 });
    expect(failure.text).not.to.contain(ACCOUNT_KEY);
    expect(jobs).to.equal(2);
  });

  it('that is a file stays a file, with its bytes and without secrets', async () => {
    const bytes = Buffer.alloc(300_000, 'x');
    for (const [body, expected] of [
      [bytes, bytes.toString()],
      [Buffer.concat([bytes, Buffer.from(ACCOUNT_KEY)]), `${bytes}[secret]`],
    ] as const) {
      respondWith(body, 'application/pdf');
      const { data } = (await get()).body;
      expect(data).to.include({ mime_type: 'application/pdf', size: expected.length });
      const file = await fetch(`${server.origin}${new URL(data.url).pathname}`);
      expect(await file.text()).to.equal(expected);
    }
    expect(jobs).to.equal(2);
  });

  it('with too many values to parse becomes a file, or the text of a failure', async () => {
    const body = zeros(RESPONSE.nodes + 1);
    respondWith(body);
    const answer = await get();
    expect(answer.body.data).to.include({ mime_type: 'application/json', size: body.length });
    respondWith(body, 'application/json', 400);
    const failure = await get();
    expect(failure.body.tool_error.upstream_body).to.match(/^\[0,0,/);
    respondWith(zeros(RESPONSE.nodes - 2));
    expect((await get()).body.data[0]).to.equal(0);
  });

  it('is rejected if it is nested too deeply, at any size', async () => {
    for (const depth of [RESPONSE.levels + 1, 1_000_000]) {
      respondWith('['.repeat(depth) + ']'.repeat(depth));
      const answer = await get();
      expect(answer.body.tool_error).to.include({ kind: 'upstream_invalid_response' });
      expect(answer.body.tool_error.upstream_status).to.equal(200);
    }
  });

  it('that takes too much time or memory to read is a fault of the provider', async () => {
    for (const reason of ['time', 'memory'] as const) {
      run = () => Promise.reject(new JobLimitError(reason));
      respondWith(zeros(RESPONSE.inlineNodes));
      const answer = await get();
      expect(answer.status).to.equal(502);
      expect(answer.body.tool_error.kind).to.equal('upstream_invalid_response');
      expect(answer.body.tool_error.message).to.contain(`too much ${reason}`);
    }
  });

  it('that finds no free thread is an outcome, since the call was sent', async () => {
    const full = createThreadPool({ ...LIMITS, places: 0 });
    run = full.run;
    respondWith(zeros(RESPONSE.inlineNodes));
    const answer = await execute(server, id, 'http_post', { path: '/', body: {} });
    expect([answer.status, answer.body.code]).to.deep.equal([503, 'SERVER_BUSY']);
    expect(answer.body.tool_error).to.include({ kind: 'service_busy', retryable: false });
    expect(answer.headers['retry-after']).to.equal(undefined);
    expect(acme.requests).to.have.length(1);
  });

  it('does not delay other requests while it is read', async () => {
    let release = (): void => {};
    run = (...args) =>
      new Promise<void>((resolve) => {
        release = resolve;
      }).then(() => threads.run(...args));
    respondWith(zeros(RESPONSE.nodes - 2));
    const slow = get();
    while (jobs === 0) await new Promise((resolve) => setImmediate(resolve));
    respondWith('{"ok":true}');
    expect((await get()).body.data).to.deep.equal({ ok: true });
    expect((await server.call('GET', '/healthz')).status).to.equal(200);
    release();
    expect((await slow).body.truncated).to.equal(true);
  });
});
