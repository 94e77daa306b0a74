import { expect } from 'chai';
import { addSecondEnvironment } from '../support/second-environment.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';

const ACCOUNTS = '/api/v1/connected_accounts';
const ROUNDS = 250;

/** Calls two environments with the same names in turn: cached data must not be shared. */
describe('two environments with the same names (C14)', () => {
  let server: TestServer;
  let tenants: { call: TestServer['call']; secret: string; id: string }[];

  before(async () => {
    server = await startTestServer();
    const other = await addSecondEnvironment(server);
    tenants = [];
    for (const [caller, secret] of [
      [server, 'secret-of-the-first'],
      [other, 'secret-of-the-other'],
    ] as const) {
      const connector = await sameConnector(caller);
      const authorization_details = { static_auth: { details: { api_key: secret } } };
      const connected_account = { api_config: { whose: secret }, authorization_details };
      const body = { connector, identifier: 'same@acme.test', user_id: 'same-user', connected_account };
      const answer = await caller.call('POST', ACCOUNTS, { body });
      tenants.push({ call: caller.call, secret, id: answer.body.connected_account.id });
    }
  });
  after(() => server.stop());

  /** The identifier is derived from the name, so it is the same in both. */
  async function sameConnector(caller: Pick<TestServer, 'call'>): Promise<string> {
    const body = { display_name: 'Same Desk', auth_patterns: [{ type: 'API_KEY' }] };
    return (await caller.call('POST', '/api/v1/custom-providers', { body })).body.provider.identifier;
  }

  it('never see each other’s values, however their requests are interleaved', async () => {
    const key = 'connector=same-desk&identifier=same@acme.test&user_id=same-user';
    const paths = [`/auth?${key}`, `/details?${key}`, `?connector=same-desk`, ':search?query=same@acme'];
    for (let round = 0; round < ROUNDS; round++) {
      const path = ACCOUNTS + paths[round % paths.length];
      const answers = await Promise.all(tenants.map(({ call }) => call('GET', path)));
      for (const [index, { status, text }] of answers.entries()) {
        const [mine, theirs] = index === 0 ? [tenants[0], tenants[1]] : [tenants[1], tenants[0]];
        expect(status).to.equal(200);
        expect(text).to.include(mine?.id).and.not.include(theirs?.id).and.not.include(theirs?.secret);
      }
    }
  });

  it('separate their idempotency keys, page tokens and connections at the same moment', async () => {
    const headers = { 'idempotency-key': 'same-key' };
    const body = { connector: 'same-desk', identifier: 'second@acme.test', user_id: 'same-user' };
    const created = await Promise.all(tenants.map(({ call }) => call('POST', ACCOUNTS, { body, headers })));
    const ids = created.map((answer) => answer.body.connected_account.id);
    expect(new Set(ids).size).to.equal(2);
    const again = await Promise.all(tenants.map(({ call }) => call('POST', ACCOUNTS, { body, headers })));
    expect(again.map((answer) => answer.body.connected_account.id)).to.deep.equal(ids);
    const connections = created.map((answer) => answer.body.connected_account.connection_id);
    expect(new Set(connections).size).to.equal(2);
  });

  it('do not share cached values that a change in one of them makes outdated', async () => {
    const [first, second] = tenants;
    const connected_account = { api_config: { whose: 'changed' } };
    await first?.call('PUT', ACCOUNTS, { body: { id: first.id, connected_account } });
    const answer = await second?.call('GET', `${ACCOUNTS}/details?id=${second.id}`);
    expect(answer?.body.connected_account.api_config).to.deep.equal({ whose: 'secret-of-the-other' });
    const providerPath = '/api/v1/custom-providers/same-desk';
    await first?.call('DELETE', providerPath);
    expect((await first?.call('GET', providerPath))?.status).to.equal(404);
    expect((await second?.call('GET', providerPath))?.status).to.equal(200);
  });
});
