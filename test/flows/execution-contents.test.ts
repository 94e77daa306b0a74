import { expect } from 'chai';
import { EXPIRING } from '../../core/retention/expiring.ts';
import type { TestClock } from '../support/clock.ts';
import { testClock } from '../support/clock.ts';
import { dumpDatabase } from '../support/database-file.ts';
import { execute, finishedExecution } from '../support/execute.ts';
import { ACCOUNT_KEY, createKeyedAccount, KEYED_ORIGIN } from '../support/keyed-api.ts';
import { NO_BACKGROUND } from '../support/no-background.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';
import type { Upstream } from '../support/upstream.ts';
import { json, startUpstream } from '../support/upstream.ts';

const DAY = 24 * 60 * 60 * 1000;

const usual: Upstream['handler'] = ({ target }, res) =>
  target === '/fail'
    ? json(res, 422, { reason: 'grace' })
    : json(res, 200, { name: 'Grace', long: 'x'.repeat(40_000) });

describe('the contents of executions', () => {
  let acme: Upstream;
  let server: TestServer;
  let clock: TestClock;
  let id: string;

  before(async () => {
    clock = testClock();
    acme = await startUpstream(usual);
    server = await startTestServer({
      env: { VALETKEY_ENDPOINT_OVERRIDES: acme.endpointOverride(KEYED_ORIGIN) },
      // The tests call the sweep themselves.
      overrides: { ...NO_BACKGROUND, now: clock.now },
    });
    ({ id } = await createKeyedAccount(server));
  });
  after(async () => {
    await server.stop();
    await acme.stop();
  });

  const keep = (settings: object) => server.call('PUT', '/api/v1/environment', { body: settings });
  const later = () => clock.advance(6_000);

  async function run(path: string) {
    const answer = await execute(server, id, 'http_post', { path, body: { secret_wish: 'a pony' } });
    const executionId = answer.body.execution_id as string;
    await finishedExecution(server, executionId);
    return { executionId, read: () => server.call('GET', `/api/v1/executions/${executionId}`) };
  }

  it('are not kept unless the environment enables it', async () => {
    const { read } = await run('/things');
    expect((await read()).body.contents).to.equal(null);
  });

  it('are kept masked, truncated and encrypted if it does', async () => {
    await keep({ keep_execution_contents: true });
    later();
    const { read } = await run('/things');
    const { contents } = (await read()).body;
    expect(contents.request).to.deep.include({ method: 'POST', url: `${KEYED_ORIGIN}/things` });
    expect(contents.request.body).to.deep.equal({ secret_wish: 'a pony' });
    expect(contents.request.headers['x-api-key']).to.equal('[secret]');
    expect(contents.response.name).to.equal('Grace');
    expect(contents.response.long.length).to.be.below(16 * 1024);
    expect(JSON.stringify(dumpDatabase(server))).not.to.match(/a pony|Grace/);
    expect(JSON.stringify(contents)).not.to.contain(ACCOUNT_KEY);

    const failed = await (await run('/fail')).read();
    expect(failed.body.contents.response).to.deep.equal({ reason: 'grace' });
  });

  it('list each request, with the waits before retries', async () => {
    const codes = [503, 429, 200];
    acme.handler = (_request, res) => json(res, codes.shift() ?? 500, {});
    try {
      const answer = await execute(server, id, 'http_get', { path: '/busy' });
      await finishedExecution(server, answer.body.execution_id);
      const { contents } = (await server.call('GET', `/api/v1/executions/${answer.body.execution_id}`)).body;
      const steps = contents.steps.map((step: Record<string, unknown>) => [step['kind'], step['upstream_status']]);
      expect(steps).to.deep.equal([
        ['REQUEST', 503],
        ['WAIT', null],
        ['REQUEST', 429],
        ['WAIT', null],
        ['REQUEST', 200],
      ]);
    } finally {
      acme.handler = usual;
    }
  });

  it('are kept or not from the change of the setting on, without a delay', async () => {
    await keep({ keep_execution_contents: false });
    expect((await (await run('/things')).read()).body.contents).to.equal(null);
    await keep({ keep_execution_contents: true });
    expect((await (await run('/things')).read()).body.contents).not.to.equal(null);
  });

  it('expire, and so does the record', async () => {
    await keep({ keep_execution_contents: true, execution_retention_days: 2 });
    later();
    const { read } = await run('/things');
    clock.advance(2 * DAY - 1);
    expect((await read()).body.contents).not.to.equal(null);
    clock.advance(1);
    expect((await read()).body.contents).to.equal(null);
    const { store } = server.parts;
    const [environment] = await store.read.environments.list();
    const env = environment?.id as NonNullable<typeof environment>['id'];
    const young = await run('/things');
    await store.write((tx) => tx.executions.sweep(env, clock.now() - 1, 100));
    expect((await read()).status).to.equal(404);
    expect((await young.read()).status).to.equal(200);
    const list = await server.call('GET', '/api/v1/executions');
    expect(list.body.total_size).to.equal(1);
  });

  it('F7: expire by a retention that was shortened later, and are removed then', async () => {
    await keep({ keep_execution_contents: true, execution_retention_days: 30 });
    later();
    const { read, executionId } = await run('/things');
    const { store } = server.parts;
    const [environment] = await store.read.environments.list();
    const env = environment?.id as NonNullable<typeof environment>['id'];
    const stored = () => store.read.storedContents.describe(env, 'execution', executionId, clock.now());
    clock.advance(2 * DAY - 1);
    await keep({ execution_retention_days: 2 });
    expect((await read()).body.contents, 'not older than the new retention').not.to.equal(null);
    clock.advance(1);
    expect((await read()).body.contents).to.equal(null);
    expect(await stored(), 'until the sweep').not.to.equal(undefined);
    const kind = EXPIRING.find(({ name }) => name === 'contents of executions') as (typeof EXPIRING)[number];
    const [current] = await store.read.environments.list();
    expect(await store.write((tx) => kind.removeSome(tx, current as never, clock.now()))).to.be.greaterThan(0);
    expect(await stored()).to.equal(undefined);
  });

  it('are deleted with their account, and the record remains', async () => {
    later();
    const { read } = await run('/things');
    expect((await read()).body.contents).not.to.equal(null);
    await server.call('POST', '/api/v1/connected_accounts:delete', { body: { id } });
    const { status, body } = await read();
    expect([status, body.contents]).to.deep.equal([200, null]);
  });

  it('do not affect the statistics by connector, tool and outcome', async () => {
    const text = await server.parts.metrics.registry.metrics();
    expect(text).to.match(/valetkey_tool_executions_total\{connector="[^"]+",tool="http_post",outcome="success"\} \d/);
    expect(text).to.match(/valetkey_tool_executions_total\{[^}]*outcome="upstream_bad_request"\} 1/);
  });
});
