import { expect } from 'chai';
import { createAccount } from '../support/accounts.ts';
import { auditOf } from '../support/audit.ts';
import { createConnection, createProvider } from '../support/providers.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';
import { firstEnvironment } from '../support/tokens.ts';

const PATH = '/api/v1/custom-providers';

describe('deleteCustomProvider', () => {
  let server: TestServer;

  const accountOf = (connector: string) =>
    createAccount(server, {
      connector,
      connectedAccount: { authorization_details: { static_auth: { details: { api_key: 'key-of-the-account' } } } },
    });

  before(async () => {
    server = await startTestServer();
  });
  after(() => server.stop());

  describe('200', () => {
    it('returns an empty object, and the provider is deleted', async () => {
      const { identifier } = await createProvider(server);
      const answer = await server.call('DELETE', `${PATH}/${identifier}`);
      expect([answer.status, answer.text]).to.deep.equal([200, '{}\n']);
      expect((await server.call('GET', `${PATH}/${identifier}`)).status).to.equal(404);
      expect((await server.call('DELETE', `${PATH}/${identifier}`)).status).to.equal(404);
    });

    it('disconnects every account and deletes its credentials, in the same transaction (P5)', async () => {
      const provider = await createProvider(server, { proxy_enabled: true, proxy_url: 'https://api.example.com' });
      await createConnection(server, { connector: provider.identifier, key_id: 'second-connection' });
      const accounts = [await accountOf('second-connection'), await accountOf('second-connection')];
      await server.call('DELETE', `${PATH}/${provider.identifier}`);
      const { id: environmentId } = await firstEnvironment(server);
      for (const { id } of accounts) {
        const answer = await server.call('GET', `/api/v1/connected_accounts/auth?id=${id}`);
        expect(answer.body.connected_account).to.deep.include({ status: 'DISCONNECTED', authorization_details: {} });
        const row = await server.parts.store.read.accounts.get(environmentId, id);
        expect(row).to.include({ wrappedDataKey: null, credentialsSealed: null, temporarySealed: null });
      }
      const [row] = await auditOf(server, provider.id);
      expect(row).to.deep.include({ action: 'custom_provider.deleted', details: { accounts_disconnected: 2 } });
    });

    it('disables its connections permanently', async () => {
      const { identifier } = await createProvider(server);
      const { id } = await createConnection(server, { connector: identifier, key_id: 'left-behind' });
      await server.call('DELETE', `${PATH}/${identifier}`);
      const off = await server.call('GET', `/api/v1/connections/${id}`);
      expect(off.body.connection).to.include({ enabled: false, status: 'DRAFT' });
      await server.call('POST', `/api/v1/connections/${id}:enable`);
      const body = { connector: 'left-behind', identifier: 'new', user_id: 'u', connected_account: {} };
      const answer = await server.call('POST', '/api/v1/connected_accounts', { body });
      expect(answer.body).to.include({ status: 400, code: 'UNKNOWN_CONNECTOR' });
    });

    it('does not disconnect accounts of another provider', async () => {
      const [one, two] = [await createProvider(server), await createProvider(server)];
      const { id } = await accountOf(two.identifier);
      await server.call('DELETE', `${PATH}/${one.identifier}`);
      const answer = await server.call('GET', `/api/v1/connected_accounts/details?id=${id}`);
      expect(answer.body.connected_account.status).to.equal('ACTIVE');
    });
  });

  describe('404', () => {
    for (const identifier of ['unknown', 'github']) {
      it(`is returned for ${identifier}, which is not a custom provider`, async () => {
        const answer = await server.call('DELETE', `${PATH}/${identifier}`);
        expect(answer.body).to.include({ status: 404, code: 'NOT_FOUND' });
      });
    }
  });
});
