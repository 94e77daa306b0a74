import { expect } from 'chai';
import type { EventSink } from '../../core/events/sink.ts';
import { createAccount } from '../support/accounts.ts';
import { createConnector } from '../support/all-types.ts';
import { auditOf } from '../support/audit.ts';
import type { TestClock } from '../support/clock.ts';
import { testClock } from '../support/clock.ts';
import { dumpDatabase } from '../support/database-file.ts';
import { checkEvents } from '../support/events.ts';
import type { TestResponse, TestServer } from '../support/server.ts';
import { CLIENT_ID, startTestServer } from '../support/server.ts';
import { firstEnvironment } from '../support/tokens.ts';

const ACCOUNTS = '/api/v1/connected_accounts';

describe('the audit log of accounts', () => {
  let server: TestServer;
  let clock: TestClock;
  let connector: string;
  let breaksAt = '';

  before(async () => {
    clock = testClock();
    const broken: EventSink = {
      accepts: () => true,
      handle(_tx, { type }) {
        if (type === breaksAt) throw new Error('the sink is broken');
      },
    };
    server = await startTestServer({ overrides: { now: clock.now, eventSinks: [checkEvents, broken] } });
    connector = await createConnector(server, [{ type: 'API_KEY' }]);
  });
  afterEach(() => {
    breaksAt = '';
  });
  after(() => server.stop());

  const withKey = (api_key: string) => ({ authorization_details: { static_auth: { details: { api_key } } } });
  const fresh = async () => (await createAccount(server, { connector, connectedAccount: withKey('secret-key') })).id;
  const update = (id: string, connected_account: object, token?: string): Promise<TestResponse> =>
    server.call('PUT', ACCOUNTS, { body: { id, connected_account }, ...(token && { token }) });
  /** Returns the actions and details of an account in the audit log, oldest first. */
  const storyOf = async (id: string) =>
    (await auditOf(server, id)).map(({ action, details }) => [action, details]).reverse();

  it('records the whole life of an account, in order', async () => {
    const id = await fresh();
    const writer = server.token('accounts:write');
    await update(id, { api_config: { a: 1 } }, writer);
    await update(id, withKey('secret-key-2'), writer);
    await server.call('GET', `${ACCOUNTS}/auth?id=${id}`);
    await server.call('POST', `${ACCOUNTS}:disconnect`, { body: { id } });
    await server.call('POST', `${ACCOUNTS}:delete`, { body: { id } });
    expect(await storyOf(id)).to.deep.equal([
      ['connected_account.created', { status: 'ACTIVE' }],
      ['connected_account.updated', {}],
      ['connected_account.updated', {}],
      ['connected_account.credentials_replaced', { from_generation: 1, to_generation: 2 }],
      ['connected_account.credentials_read', {}],
      ['connected_account.disconnected', {}],
      ['connected_account.deleted', {}],
    ]);
  });

  it('records an exchange of credentials with both generations, which show when each was in use (C17)', async () => {
    const id = await fresh();
    for (const key of ['secret-a', 'secret-b']) await update(id, withKey(key), server.token('accounts:write'));
    const exchanges = (await storyOf(id)).filter(([action]) => action === 'connected_account.credentials_replaced');
    expect(exchanges.map(([, details]) => details)).to.deep.equal([
      { from_generation: 1, to_generation: 2 },
      { from_generation: 2, to_generation: 3 },
    ]);
  });

  it('records that an update has shown stored credentials, to a client that may read them', async () => {
    const id = await fresh();
    const answer = await update(id, {});
    expect(answer.text).to.include('secret-key');
    expect((await storyOf(id)).map(([action]) => action)).to.include('connected_account.credentials_read');
    const other = await fresh();
    await update(other, {}, server.token('accounts:write'));
    expect((await storyOf(other)).map(([action]) => action)).not.to.include('connected_account.credentials_read');
  });

  it('records who made a change, when, and in which request', async () => {
    clock.advance(1234);
    const id = await fresh();
    const headers = { 'x-request-id': 'run-8' };
    await server.call('PUT', ACCOUNTS, { body: { id, connected_account: {} }, headers });
    const [latest] = await auditOf(server, id);
    expect(latest).to.include({ actor: CLIENT_ID, requestId: 'run-8', at: clock.now() });
    expect(latest?.id).to.match(/^aud_/);
  });

  it('records neither reads without secrets nor refused requests', async () => {
    const id = await fresh();
    await server.call('GET', `${ACCOUNTS}/details?id=${id}`);
    await server.call('GET', ACCOUNTS);
    await server.call('GET', `${ACCOUNTS}:search?query=${connector}`);
    await update(id, { api_config: JSON.parse('{"__proto__": 1}') });
    await update(id, withKey('x'), server.token('accounts:read'));
    await server.call('POST', `${ACCOUNTS}:delete`, { body: { id, identifier: 'another' } });
    expect(await storyOf(id)).to.deep.equal([['connected_account.created', { status: 'ACTIVE' }]]);
  });

  it('contains no secret', async () => {
    const id = await fresh();
    await update(id, withKey('secret-key-2'));
    expect(JSON.stringify(dumpDatabase(server)['audit_log'])).not.to.include('secret-');
  });

  const EFFECTS: [string, (id: string) => Promise<TestResponse>][] = [
    ['connected_account.updated', (id) => update(id, withKey('secret-new'))],
    ['connected_account.credentials_replaced', (id) => update(id, withKey('secret-new'))],
    ['connected_account.credentials_read', (id) => server.call('GET', `${ACCOUNTS}/auth?id=${id}`)],
    ['connected_account.disconnected', (id) => server.call('POST', `${ACCOUNTS}:disconnect`, { body: { id } })],
    ['connected_account.deleted', (id) => server.call('POST', `${ACCOUNTS}:delete`, { body: { id } })],
    [
      'connected_account.created',
      () =>
        server.call('POST', ACCOUNTS, {
          body: { connector, identifier: 'never', user_id: 'u', connected_account: {} },
        }),
    ],
  ];
  for (const [event, act] of EFFECTS) {
    it(`rolls back the unit of work if a sink rejects ${event}`, async () => {
      const id = await fresh();
      const before = dumpDatabase(server);
      breaksAt = event;
      const answer = await act(id);
      expect(answer.status).to.equal(500);
      expect(answer.text).not.to.include('secret-');
      expect(dumpDatabase(server)).to.deep.equal(before);
    });
  }

  it('is a valid hash chain after all of this', async () => {
    const { id } = await firstEnvironment(server);
    await Promise.all(Array.from({ length: 20 }, fresh));
    const verdict = await server.parts.store.read.audit.verifyChain(id);
    const { total } = await server.parts.store.read.audit.list(id, { size: 1 });
    expect(verdict).to.deep.equal({ intact: true, rows: total });
  });
});
