import { expect } from 'chai';
import { createApiClient } from '../support/api-clients.ts';
import { startChildServer } from '../support/child-server.ts';
import { testClock } from '../support/clock.ts';
import { execute, finishedExecution } from '../support/execute.ts';
import { createKeyedAccount, KEYED_ORIGIN } from '../support/keyed-api.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';
import { tempDir } from '../support/temp-dir.ts';
import type { Upstream } from '../support/upstream.ts';
import { json, startUpstream } from '../support/upstream.ts';

const DAY = 24 * 60 * 60 * 1000;

describe('executing with an idempotency key (C13, E7)', () => {
  let acme: Upstream;
  let server: TestServer;
  let id: string;
  let keys = 0;
  const clock = testClock();

  const post = (key: string, input: Record<string, unknown> = { a: 1 }, account = id) =>
    execute(server, account, 'http_post', { path: '/things', body: input }, { headers: { 'idempotency-key': key } });
  const newKey = () => `key-${++keys}`;

  before(async () => {
    acme = await startUpstream();
    server = await startTestServer({
      env: { VALETKEY_ENDPOINT_OVERRIDES: acme.endpointOverride(KEYED_ORIGIN) },
      overrides: { now: clock.now },
    });
    ({ id } = await createKeyedAccount(server));
  });
  beforeEach(() => {
    acme.requests.length = 0;
    acme.handler = (_request, res) => json(res, 201, { made: acme.requests.length });
  });
  after(async () => {
    await server.stop();
    await acme.stop();
  });

  it('sends once and returns the same response again, marked as a replay', async () => {
    const key = newKey();
    const first = await post(key);
    const second = await post(key);
    expect(second.body).to.deep.equal(first.body);
    expect([first.headers['idempotency-replayed'], second.headers['idempotency-replayed']]).to.deep.equal([
      undefined,
      'true',
    ]);
    expect(acme.requests).to.have.length(1);
  });

  it('stores a failure like a success', async () => {
    acme.handler = (_request, res) => json(res, 422, { message: 'no' });
    const key = newKey();
    const first = await post(key);
    acme.handler = (_request, res) => json(res, 201, {});
    const second = await post(key);
    expect(second.status).to.equal(502);
    expect(second.body).to.deep.equal(first.body);
    expect(second.headers['content-type']).to.equal('application/problem+json');
    expect(acme.requests).to.have.length(1);
  });

  it('returns 422 for another input, another account, or another tool under the same key', async () => {
    const key = newKey();
    await post(key);
    const other = await createKeyedAccount(server);
    const put = { path: '/things', body: { a: 1 } };
    for (const answer of [
      await post(key, { a: 2 }),
      await post(key, { a: 1 }, other.id),
      await execute(server, id, 'http_put', put, { headers: { 'idempotency-key': key } }),
    ]) {
      expect(answer.body).to.include({ status: 422, code: 'IDEMPOTENCY_KEY_REUSED' });
    }
    expect(acme.requests).to.have.length(1);
  });

  it('returns 409 while the first request is running, and its response afterwards', async () => {
    const key = newKey();
    let release = () => {};
    const arrived = new Promise<void>((seen) => {
      acme.handler = async (_request, res) => {
        seen();
        await new Promise<void>((resolve) => {
          release = resolve;
        });
        json(res, 201, { late: true });
      };
    });
    const first = post(key);
    await arrived;
    const meanwhile = await post(key);
    expect(meanwhile.body).to.include({ status: 409, code: 'IDEMPOTENCY_KEY_IN_USE' });
    release();
    expect((await first).status).to.equal(200);
    expect((await post(key)).body.data).to.deep.equal({ late: true });
    expect(acme.requests).to.have.length(1);
  });

  it('sends once for twenty concurrent requests', async () => {
    const key = newKey();
    const answers = await Promise.all(Array.from({ length: 20 }, () => post(key)));
    expect(acme.requests).to.have.length(1);
    for (const { status } of answers) expect(status).to.be.oneOf([200, 409]);
    expect(answers.filter((answer) => answer.status === 200).length).to.be.at.least(1);
  });

  it('releases the key of a request that was refused before it began', async () => {
    const key = newKey();
    const wrong = await execute(server, id, 'http_post', { colour: 'red' }, { headers: { 'idempotency-key': key } });
    expect(wrong.body.code).to.equal('INVALID_TOOL_INPUT');
    expect((await post(key)).status).to.equal(200);
  });

  it('separates the keys of clients', async () => {
    const key = newKey();
    await post(key);

    const other = await createApiClient(server, ['tools:execute']);
    const token = (await other.requestToken()).body.access_token;
    const request = { token, headers: { 'idempotency-key': key } };
    const answer = await execute(server, id, 'http_post', { path: '/things', body: { a: 1 } }, request);
    expect(answer.headers['idempotency-replayed']).to.equal(undefined);
    expect(acme.requests).to.have.length(2);
  });

  it('deletes the key after 24 hours', async () => {
    const key = newKey();
    await post(key);
    clock.advance(DAY - 1);
    expect((await post(key)).headers['idempotency-replayed']).to.equal('true');
    clock.advance(1);
    expect((await post(key)).headers['idempotency-replayed']).to.equal(undefined);
    expect(acme.requests).to.have.length(2);
  });

  for (const key of ['', 'a b', 'ü', 'x'.repeat(256)]) {
    it(`returns 400 for an invalid key: ${JSON.stringify(key.slice(0, 10))}`, async () => {
      const answer = await post(key);
      expect(answer.status, answer.text).to.equal(400);
      expect(acme.requests).to.deep.equal([]);
    });
  }

  it('sends every request again without a key', async () => {
    for (let sent = 0; sent < 2; sent++) await execute(server, id, 'http_post', { path: '/things', body: {} });
    expect(acme.requests).to.have.length(2);
  });

  it('reports that the outcome is unknown after the process was killed between sending and responding', async () => {
    const folder = tempDir();
    const env = { DATA_DIR: folder.path, VALETKEY_ENDPOINT_OVERRIDES: acme.endpointOverride(KEYED_ORIGIN) };
    const first = await startChildServer(env);
    const account = await createKeyedAccount(first);
    const run = (on: Pick<TestServer, 'call'>) =>
      execute(on, account.id, 'http_post', { path: '/things', body: {} }, { headers: { 'idempotency-key': 'killed' } });
    const arrived = new Promise<void>((seen) => {
      acme.handler = () => seen();
    });
    const cut = run(first).catch((error: Error) => error);
    await arrived;
    await first.stop('SIGKILL');
    expect(await cut).to.be.instanceOf(Error);

    acme.handler = (_request, res) => json(res, 201, {});
    const second = await startChildServer(env);
    try {
      const answer = await run(second);
      expect(answer.body).to.include({ status: 409, code: 'EXECUTION_OUTCOME_UNKNOWN' });
      const record = await finishedExecution(second, answer.body.execution_id);
      expect(record).to.include({ status: 'UNKNOWN', error_kind: null, upstream_status: null });
      expect(acme.requests, 'the effect happened at most once').to.have.length(1);
    } finally {
      expect(await second.stop()).to.deep.equal({ code: 0, signal: null });
      folder.remove();
    }
  });
});
