import { expect } from 'chai';
import { wrap } from '../../wiring/overrides.ts';
import { testClock } from '../support/clock.ts';
import { execute, finishedExecution } from '../support/execute.ts';
import { createKeyedAccount, KEYED_ORIGIN } from '../support/keyed-api.ts';
import { NO_BACKGROUND } from '../support/no-background.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';
import { tempDir } from '../support/temp-dir.ts';
import type { Upstream } from '../support/upstream.ts';
import { json, startUpstream } from '../support/upstream.ts';

describe('the record of an execution', () => {
  let acme: Upstream;
  let server: TestServer;
  let writes = { write: 0, commit: 0, note: 0 };
  const clock = testClock();
  const env = () => ({ VALETKEY_ENDPOINT_OVERRIDES: acme.endpointOverride(KEYED_ORIGIN) });

  before(async () => {
    acme = await startUpstream();
    server = await startTestServer({
      env: env(),
      overrides: {
        ...NO_BACKGROUND,
        now: clock.now,
        store: wrap((store) => ({
          ...store,
          write: (unit, terms) => {
            writes.write += 1;
            return store.write(unit, terms);
          },
          commit: (unit) => {
            writes.commit += 1;
            return store.commit(unit);
          },
          note: (unit) => {
            writes.note += 1;
            return store.note(unit);
          },
        })),
      },
    });
  });
  beforeEach(() => {
    writes = { write: 0, commit: 0, note: 0 };
    acme.requests.length = 0;
    acme.handler = (_request, res) => json(res, 200, {});
  });
  after(async () => {
    await server.stop();
    await acme.stop();
  });

  const detailsOf = async (id: string) =>
    (await server.call('GET', `/api/v1/connected_accounts/details?id=${id}`)).body.connected_account;

  it('is committed before the first byte is sent: the application sees it as STARTED (E7)', async () => {
    const { id } = await createKeyedAccount(server);
    let seen: unknown;
    acme.handler = async (_request, res) => {
      seen = (await server.call('GET', `/api/v1/executions?connected_account_id=${id}`)).body.executions;
      json(res, 200, {});
    };
    const answer = await execute(server, id, 'http_get', { path: '/' });
    expect(seen).to.have.length(1);
    expect((seen as unknown[])[0]).to.include({
      id: answer.body.execution_id,
      status: 'STARTED',
      finished_at: null,
      duration_ms: null,
      upstream_status: null,
    });
  });

  it('contains its duration', async () => {
    const { id } = await createKeyedAccount(server);
    const startedAt = clock.now();
    acme.handler = (_request, res) => {
      clock.advance(1234);
      json(res, 200, {});
    };
    const answer = await execute(server, id, 'http_get', { path: '/' });
    const record = await finishedExecution(server, answer.body.execution_id);
    expect(record).to.include({
      started_at: new Date(startedAt).toISOString(),
      finished_at: new Date(startedAt + 1234).toISOString(),
      duration_ms: 1234,
    });
  });

  it('shows the use of the account immediately, in details and in lists', async () => {
    const { id, account } = await createKeyedAccount(server);
    expect((await detailsOf(id)).last_used_at).to.equal(null);
    await execute(server, id, 'http_get', { path: '/' });
    const used = new Date(clock.now()).toISOString();
    clock.advance(60_000);
    expect((await detailsOf(id)).last_used_at).to.equal(used);
    const list = await server.call('GET', `/api/v1/connected_accounts?identifier=${account['identifier']}`);
    expect(list.body.connected_accounts[0].last_used_at).to.equal(used);
  });

  it('counts a call that the application refused as a use, but not one that was never sent', async () => {
    const { id } = await createKeyedAccount(server);
    await execute(server, id, 'http_get', { path: '/', colour: 'red' });
    expect((await detailsOf(id)).last_used_at).to.equal(null);
    acme.handler = (_request, res) => json(res, 404, {});
    await execute(server, id, 'http_get', { path: '/' });
    expect((await detailsOf(id)).last_used_at).to.equal(new Date(clock.now()).toISOString());
  });

  it('needs one durable write for the start of a read call, a note for its end, and none for the use of the account', async () => {
    const { id } = await createKeyedAccount(server);
    writes = { write: 0, commit: 0, note: 0 };
    for (let run = 0; run < 10; run++) await execute(server, id, 'http_get', { path: '/' });
    expect(writes).to.deep.equal({ write: 0, commit: 10, note: 10 });
  });

  it('needs a durable write for the start and one for the end of any other call, which includes the response for its key', async () => {
    const { id } = await createKeyedAccount(server);
    const key = () => ({ headers: { 'idempotency-key': `cost-${writes.write}` } });
    writes = { write: 0, commit: 0, note: 0 };
    for (let run = 0; run < 5; run++) await execute(server, id, 'http_post', { path: '/' });
    for (let run = 0; run < 5; run++) await execute(server, id, 'http_post', { path: '/' }, key());
    expect(writes).to.deep.equal({ write: 10, commit: 10, note: 0 });
  });

  it('is on disk after a stop, with the outcome and the use of the account', async () => {
    const folder = tempDir();
    try {
      const first = await startTestServer({ env: env(), dataDir: folder.path, overrides: { now: clock.now } });
      const { id } = await createKeyedAccount(first);
      const answer = await execute(first, id, 'http_get', { path: '/' });
      await first.stop();
      const second = await startTestServer({ env: env(), dataDir: folder.path, overrides: { now: clock.now } });
      const record = await second.call('GET', `/api/v1/executions/${answer.body.execution_id}`);
      expect(record.body.execution.status).to.equal('SUCCEEDED');
      const account = await second.call('GET', `/api/v1/connected_accounts/details?id=${id}`);
      expect(account.body.connected_account.last_used_at).to.equal(new Date(clock.now()).toISOString());
      await second.stop();
    } finally {
      folder.remove();
    }
  });

  it('remains after the account is deleted', async () => {
    const { id } = await createKeyedAccount(server);
    const answer = await execute(server, id, 'http_get', { path: '/' });
    await finishedExecution(server, answer.body.execution_id);
    await server.call('POST', '/api/v1/connected_accounts:delete', { body: { id } });
    const list = await server.call('GET', `/api/v1/executions?connected_account_id=${id}`);
    expect(list.body.executions[0]).to.include({ id: answer.body.execution_id, connected_account_id: id });
  });

  it('contains neither the input nor the result, nor any credential', async () => {
    const { id } = await createKeyedAccount(server, { key: 'canary-credential-1' });
    acme.handler = (_request, res) => json(res, 200, { answer: 'canary-result-1' });
    const answer = await execute(server, id, 'http_post', { path: '/', body: { text: 'canary-input-1' } });
    const record = await finishedExecution(server, answer.body.execution_id);
    expect(JSON.stringify([record, server.logs])).not.to.match(/canary-(credential|result|input)-1/);
  });
});
