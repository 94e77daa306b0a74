import { expect } from 'chai';
import { createAccount, unknownId } from '../support/accounts.ts';
import { createConnection } from '../support/providers.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';

const pathOf = (id: string) => `/api/v1/connections/${id}:disable`;

describe('disableConnection', () => {
  let server: TestServer;

  before(async () => {
    server = await startTestServer();
  });
  after(() => server.stop());

  describe('200', () => {
    it('disables the connection, and changes nothing else', async () => {
      const { updated_at: _created, ...before } = await createConnection(server, { client_id: 'id' });
      const answer = await server.call('POST', pathOf(before.id));
      expect(answer.status, answer.text).to.equal(200);
      const { updated_at: _updated, ...connection } = answer.body.connection;
      expect(connection).to.deep.equal({ ...before, enabled: false });
    });

    it('has no further effect when it is repeated', async () => {
      const { id } = await createConnection(server);
      await server.call('POST', pathOf(id));
      const answer = await server.call('POST', pathOf(id));
      expect(answer.body.connection.enabled).to.equal(false);
    });

    it('does not change accounts and their credentials', async () => {
      const connection = await createConnection(server, { type: 'BEARER_TOKEN' });
      const account = await createAccount(server, { connector: connection.key_id, token: 'ghp_stays' });
      await server.call('POST', pathOf(connection.id));
      const answer = await server.call('GET', `/api/v1/connected_accounts/auth?id=${account.id}`);
      expect(answer.body.connected_account.status).to.equal('ACTIVE');
      expect(answer.text).to.include('ghp_stays');
    });
  });

  describe('400', () => {
    it('rejects a request body', async () => {
      const { id } = await createConnection(server);
      const answer = await server.call('POST', pathOf(id), { body: {} });
      expect(answer.body).to.include({ status: 400, code: 'VALIDATION_FAILED' });
    });
  });

  describe('404', () => {
    it('rejects an unknown id', async () => {
      const answer = await server.call('POST', pathOf(unknownId('conn')));
      expect(answer.body).to.include({ status: 404, code: 'NOT_FOUND' });
    });
  });

  describe('422', () => {
    it('refuses a known idempotency key for another connection', async () => {
      const headers = { 'idempotency-key': 'disable-1' };
      const [one, two] = [await createConnection(server), await createConnection(server)];
      await server.call('POST', pathOf(one.id), { headers });
      const answer = await server.call('POST', pathOf(two.id), { headers });
      expect(answer.body).to.include({ status: 422, code: 'IDEMPOTENCY_KEY_REUSED' });
    });
  });
});
