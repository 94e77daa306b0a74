import { expect } from 'chai';
import { createAccount, unknownId } from '../support/accounts.ts';
import { createConnection } from '../support/providers.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';

const PATH = '/api/v1/connections';

describe('deleteConnection', () => {
  let server: TestServer;

  before(async () => {
    server = await startTestServer();
  });
  after(() => server.stop());

  describe('200', () => {
    it('returns an empty object, and the connection is deleted', async () => {
      const { id } = await createConnection(server);
      const answer = await server.call('DELETE', `${PATH}/${id}`);
      expect([answer.status, answer.text]).to.deep.equal([200, '{}\n']);
      expect((await server.call('GET', `${PATH}/${id}`)).status).to.equal(404);
      expect((await server.call('DELETE', `${PATH}/${id}`)).status).to.equal(404);
    });

    it('makes its name available', async () => {
      const { id } = await createConnection(server, { key_id: 'again' });
      await server.call('DELETE', `${PATH}/${id}`);
      expect((await createConnection(server, { key_id: 'again' })).id).not.to.equal(id);
    });
  });

  describe('404', () => {
    it('rejects an unknown id', async () => {
      const answer = await server.call('DELETE', `${PATH}/${unknownId('conn')}`);
      expect(answer.body).to.include({ status: 404, code: 'NOT_FOUND' });
    });
  });

  describe('409', () => {
    it('is returned while accounts belong to it, and not after they were deleted', async () => {
      const connection = await createConnection(server, { type: 'BEARER_TOKEN' });
      const account = await createAccount(server, { connector: connection.key_id });
      const refused = await server.call('DELETE', `${PATH}/${connection.id}`);
      expect(refused.body).to.include({ status: 409, code: 'CONNECTION_IN_USE' });
      expect(refused.body.detail).to.include('1 connected account');
      await server.call('POST', '/api/v1/connected_accounts:delete', { body: { id: account.id } });
      expect((await server.call('DELETE', `${PATH}/${connection.id}`)).status).to.equal(200);
    });
  });
});
