import { expect } from 'chai';
import { closeAll } from '../core/net/local.ts';
import { ISSUER, SECRET, type StrictServer, startStrictServer } from '../core/oauth/strict-server.ts';
import { createAccount, unknownId } from '../support/accounts.ts';
import { createKeyedAccount } from '../support/keyed-api.ts';
import { createConnection, createProvider } from '../support/providers.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';

const ACCOUNTS = '/api/v1/connected_accounts';

describe('refreshConnectedAccount', () => {
  let as: StrictServer;
  let server: TestServer;
  let connection: { id: string; key_id: string };

  before(async () => {
    as = await startStrictServer();
    server = await startTestServer({ env: { VALETKEY_ENDPOINT_OVERRIDES: `${ISSUER}=${as.origin}` } });
    const { identifier } = await createProvider(server, {
      auth_patterns: [{ type: 'OAUTH', oauth_config: { issuer: ISSUER } }],
    });
    const client = { client_id: 'basic', client_secret: SECRET };
    connection = (await createConnection(server, { connector: identifier, ...client })) as never;
  });
  after(async () => {
    await server.stop();
    await closeAll();
  });

  const refresh = (id: string, headers = {}) => server.call('POST', `${ACCOUNTS}:refresh`, { body: { id }, headers });

  async function connect(oauth_token: object): Promise<string> {
    const connectedAccount = { authorization_details: { oauth_token } };
    return (await createAccount(server, { connector: connection.key_id, connectedAccount })).id;
  }

  const tokenOf = async (id: string) =>
    (await server.call('GET', `${ACCOUNTS}/auth?id=${id}`)).body.connected_account.authorization_details.oauth_token
      .access_token;

  describe('200', () => {
    it('REFRESHED with a token that the provider has just issued, once for an idempotency key', async () => {
      const id = await connect({ access_token: 'of-yesterday', refresh_token: await as.issue() });
      const requests = as.requests();
      const { status, body, text } = await refresh(id, { 'idempotency-key': 'now' });
      expect(status, text).to.equal(200);
      expect(body).to.include({ id, outcome: 'REFRESHED', reason: '' });
      expect(Date.parse(body.token_expires_at)).to.be.greaterThan(Date.now());
      expect((await refresh(id, { 'idempotency-key': 'now' })).body).to.deep.equal(body);
      expect(as.requests()).to.equal(requests + 1);
      const token = await tokenOf(id);
      expect([token === 'of-yesterday', await as.isAlive(token)]).to.deep.equal([false, true]);
    });

    it('EXPIRED when the provider rejects the refresh token', async () => {
      const id = await connect({ access_token: 'of-yesterday', refresh_token: 'guessed' });
      const { body } = await refresh(id);
      expect(body).to.include({ id, outcome: 'EXPIRED' });
      expect(body.reason).not.to.equal('');
      const details = await server.call('GET', `${ACCOUNTS}/details?id=${id}`);
      expect(details.body.connected_account).to.include({ status: 'EXPIRED', status_reason: body.reason });
    });

    it('UNCHANGED without a refresh token, and for credentials that are not refreshed', async () => {
      const without = await connect({ access_token: 'forever' });
      expect((await refresh(without)).body).to.include({ outcome: 'UNCHANGED', token_expires_at: null });
      const { id } = await createKeyedAccount(server);
      const { body } = await refresh(id);
      const reason = 'The credentials of this account do not need a refresh.';
      expect(body).to.include({ outcome: 'UNCHANGED', reason });
    });
  });

  it('404 for an account that does not exist', async () => {
    expect((await refresh(unknownId('ca'))).body).to.include({ status: 404, code: 'NOT_FOUND' });
  });

  it('409 for an account that waits for its user, or whose connection is disabled', async () => {
    const waiting = await createAccount(server, { connectedAccount: {} });
    const answer = await refresh(waiting.id);
    expect(answer.body).to.include({ status: 409, code: 'ACCOUNT_NOT_ACTIVE' });
    expect(answer.body.next_action.operation_id).to.equal('updateConnection');
    const id = await connect({ access_token: 'of-yesterday', refresh_token: await as.issue() });
    const requests = as.requests();
    await server.call('POST', `/api/v1/connections/${connection.id}:disable`);
    expect((await refresh(id)).body).to.include({ status: 409, code: 'CONNECTION_DISABLED' });
    expect(as.requests()).to.equal(requests);
    await server.call('POST', `/api/v1/connections/${connection.id}:enable`);
  });
});
