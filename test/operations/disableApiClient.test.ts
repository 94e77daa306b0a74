import { expect } from 'chai';
import { unknownId } from '../support/accounts.ts';
import { createApiClient } from '../support/api-clients.ts';
import { auditOf } from '../support/audit.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';

const pathOf = (id: string) => `/api/v1/api_clients/${id}:disable`;

describe('disableApiClient', () => {
  let server: TestServer;

  before(async () => {
    server = await startTestServer();
  });
  after(() => server.stop());

  describe('200', () => {
    it('revokes the tokens of the client immediately, and issues no new ones (T5)', async () => {
      const client = await createApiClient(server);
      const { access_token: token } = (await client.requestToken()).body;
      expect((await server.call('GET', '/api/v1/tools', { token })).status).to.equal(200);
      const answer = await server.call('POST', pathOf(client.id));
      expect(answer.body.api_client).to.include({ id: client.id, enabled: false });
      const refused = await server.call('GET', '/api/v1/tools', { token });
      expect(refused.body).to.include({ status: 401, code: 'UNAUTHENTICATED' });
      expect(refused.headers['www-authenticate']).to.equal('Bearer error="invalid_token"');
      expect((await client.requestToken()).body).to.deep.include({ error: 'invalid_client' });
    });

    it('does not affect other clients', async () => {
      const [one, two] = [await createApiClient(server), await createApiClient(server)];
      const { access_token: token } = (await two.requestToken()).body;
      await server.call('POST', pathOf(one.id));
      expect((await server.call('GET', '/api/v1/tools', { token })).status).to.equal(200);
    });

    it('has no further effect when it is repeated, and adds one entry to the audit log', async () => {
      const { id } = await createApiClient(server);
      const first = await server.call('POST', pathOf(id));
      const second = await server.call('POST', pathOf(id));
      expect(second.body).to.deep.equal(first.body);
      expect((await auditOf(server, id)).filter((row) => row.action === 'api_client.disabled')).to.have.length(1);
    });

    it('lets a client disable itself', async () => {
      const client = await createApiClient(server, ['admin']);
      const { access_token: token } = (await client.requestToken()).body;
      expect((await server.call('POST', pathOf(client.id), { token })).status).to.equal(200);
      expect((await server.call('POST', pathOf(client.id), { token })).status).to.equal(401);
    });
  });

  describe('404', () => {
    it('rejects an unknown id', async () => {
      const answer = await server.call('POST', pathOf(unknownId('cli')));
      expect(answer.body).to.include({ status: 404, code: 'NOT_FOUND' });
    });
  });

  describe('422', () => {
    it('refuses a known idempotency key for another client', async () => {
      const headers = { 'idempotency-key': 'disable-1' };
      const [one, two] = [await createApiClient(server), await createApiClient(server)];
      await server.call('POST', pathOf(one.id), { headers });
      const answer = await server.call('POST', pathOf(two.id), { headers });
      expect(answer.body).to.include({ status: 422, code: 'IDEMPOTENCY_KEY_REUSED' });
    });
  });
});
