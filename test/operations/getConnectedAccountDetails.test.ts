import { expect } from 'chai';
import { createAccount, unknownId } from '../support/accounts.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';

const PATH = '/api/v1/connected_accounts/details';

describe('getConnectedAccountDetails', () => {
  let server: TestServer;

  before(async () => {
    server = await startTestServer();
  });
  after(() => server.stop());

  describe('200', () => {
    it('shows what is no secret, and no secret', async () => {
      const account = await createAccount(server, { token: 'ghp_doNotShow' });
      const answer = await server.call('GET', `${PATH}?id=${account.id}`);
      expect(answer.status).to.equal(200);
      expect(answer.body.connected_account).to.include({ id: account.id, status: 'ACTIVE', provider: 'github' });
      expect(answer.body.connected_account.authorization_details).to.deep.equal({ static_auth: { details: {} } });
      expect(answer.text).not.to.include('ghp_doNotShow');
    });

    it('finds an account by its owner, connector and identifier', async () => {
      const account = await createAccount(server, { identifier: 'by-key', userId: 'u-7' });
      const answer = await server.call('GET', `${PATH}?user_id=u-7&connector=github&identifier=by-key`);
      expect(answer.body.connected_account.id).to.equal(account.id);
    });
  });

  describe('400', () => {
    it('names each field that the key lacks', async () => {
      const answer = await server.call('GET', `${PATH}?connector=github`);
      expect(answer.status).to.equal(400);
      expect(answer.body.code).to.equal('INCOMPLETE_ACCOUNT_KEY');
      expect(answer.body.errors.map((e: { field: string }) => e.field)).to.deep.equal(['identifier', 'organization_id']);
    });
  });

  describe('404', () => {
    it('does not know an id that was never given', async () => {
      const answer = await server.call('GET', `${PATH}?id=${unknownId('ca')}`);
      expect(answer.status).to.equal(404);
    });

    it('refuses an id whose other fields do not agree', async () => {
      const account = await createAccount(server);
      const answer = await server.call('GET', `${PATH}?id=${account.id}&identifier=somebody-else`);
      expect(answer.status).to.equal(404);
    });
  });
});
