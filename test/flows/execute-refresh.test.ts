import { expect } from 'chai';
import type { AccountRow } from '../../db/store.ts';
import { execute, finishedExecution } from '../support/execute.ts';
import { ACCOUNT_KEY, createKeyedAccount, KEYED_ORIGIN } from '../support/keyed-api.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';
import type { Upstream } from '../support/upstream.ts';
import { json, startUpstream } from '../support/upstream.ts';

describe('an execution whose credential is rejected', () => {
  let acme: Upstream;
  let server: TestServer;
  let id: string;
  let refreshes: number;
  let refreshed: (account: AccountRow) => Promise<AccountRow | null>;
  let freshen: (account: AccountRow) => Promise<AccountRow>;

  before(async () => {
    acme = await startUpstream();
    server = await startTestServer({
      env: { VALETKEY_ENDPOINT_OVERRIDES: acme.endpointOverride(KEYED_ORIGIN) },
      overrides: {
        ensureFresh: async (account) => ({ account: await freshen(account) }),
        refreshNow: (account) => {
          refreshes += 1;
          return refreshed(account);
        },
      },
    });
    ({ id } = await createKeyedAccount(server));
  });
  beforeEach(() => {
    refreshes = 0;
    acme.requests.length = 0;
    acme.handler = (_request, res) => json(res, 401, { message: 'expired' });
    freshen = async (account) => account;
    refreshed = async () => null;
  });
  after(async () => {
    await server.stop();
    await acme.stop();
  });

  const get = () => execute(server, id, 'http_get', { path: '/' });

  it('is not sent again without a newer credential', async () => {
    const answer = await get();
    expect(answer.body.tool_error).to.include({ kind: 'upstream_auth', upstream_status: 401 });
    expect([acme.requests.length, refreshes]).to.deep.equal([1, 1]);
  });

  it('is refreshed once and sent once more, even if it is rejected again (E10)', async () => {
    refreshed = async (account) => account;
    const answer = await get();
    expect(answer.body.tool_error).to.include({ kind: 'upstream_auth' });
    expect([acme.requests.length, refreshes]).to.deep.equal([2, 1]);
  });

  it('succeeds with the newer credential, and redacts the older one as well (E5)', async () => {
    const environment = await server.parts.environmentOf('localhost');
    refreshed = async () => {
      const details = { static_auth: { details: { api_key: 'the-newer-key-99' } } };
      const body = { id, connected_account: { authorization_details: details } };
      await server.call('PUT', '/api/v1/connected_accounts', { body });
      return (await server.parts.store.read.accounts.get(environment.id, id)) ?? null;
    };
    acme.handler = ({ headers }, res) => {
      const key = headers['x-api-key'];
      json(res, key === 'the-newer-key-99' ? 200 : 401, { keys: [key, ACCOUNT_KEY] });
    };
    const answer = await get();
    expect(answer.status, answer.text).to.equal(200);
    expect(answer.body.data).to.deep.equal({ keys: ['[secret]', '[secret]'] });
    expect(await finishedExecution(server, answer.body.execution_id)).to.include({ status: 'SUCCEEDED' });
  });

  it('sends nothing when the account has permanently ended in the meantime, and records the failure (E6)', async () => {
    freshen = async (account) => ({ ...account, status: 'EXPIRED', statusReason: 'The provider said no.' });
    const answer = await get();
    expect(answer.body).to.include({ status: 409, code: 'ACCOUNT_NOT_ACTIVE' });
    expect(answer.body.next_action.type).to.equal('reauthorize');
    expect(acme.requests).to.deep.equal([]);
    const list = await server.call('GET', `/api/v1/executions?connected_account_id=${id}&page_size=1`);
    const record = await finishedExecution(server, list.body.executions[0].id);
    expect(record).to.include({ status: 'FAILED', error_kind: 'upstream_auth', upstream_status: null });
  });

  it('ends its record when the server itself fails, and reports an unknown outcome', async () => {
    freshen = async () => {
      throw new Error('a fault of the service');
    };
    const headers = { 'idempotency-key': 'fault-1' };
    const answer = await execute(server, id, 'http_get', { path: '/' }, { headers });
    expect(answer.body).to.include({ status: 500, code: 'INTERNAL_ERROR' });
    expect(answer.text).not.to.include('a fault of the service');
    const list = await server.call('GET', `/api/v1/executions?connected_account_id=${id}&page_size=1`);
    const record = await finishedExecution(server, list.body.executions[0].id);
    expect(record).to.include({ status: 'UNKNOWN', error_kind: null });
    const again = await execute(server, id, 'http_get', { path: '/' }, { headers });
    expect(again.body).to.include({ status: 409, code: 'EXECUTION_OUTCOME_UNKNOWN', execution_id: record.id });
  });
});
