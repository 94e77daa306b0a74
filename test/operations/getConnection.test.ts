import { expect } from 'chai';
import { unknownId } from '../support/accounts.ts';
import { createConnection, createProvider } from '../support/providers.ts';
import { addSecondEnvironment } from '../support/second-environment.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';

const PATH = '/api/v1/connections';

describe('getConnection', () => {
  let server: TestServer;

  before(async () => {
    server = await startTestServer();
  });
  after(() => server.stop());

  describe('200', () => {
    it('returns the same as create', async () => {
      const created = await createConnection(server, { client_id: 'id', client_secret: 'never-shown-again' });
      const answer = await server.call('GET', `${PATH}/${created.id}`);
      expect(answer.status).to.equal(200);
      expect(answer.body.connection).to.deep.equal(created);
      expect(answer.text).not.to.include('never-shown-again');
    });

    it('reports the provider as missing after it was deleted', async () => {
      const provider = await createProvider(server);
      const { id } = await createConnection(server, { connector: provider.identifier });
      await server.call('DELETE', `/api/v1/custom-providers/${provider.identifier}`);
      const answer = await server.call('GET', `${PATH}/${id}`);
      expect(answer.body.connection).to.deep.include({
        status: 'DRAFT',
        enabled: false,
        missing_settings: ['provider'],
      });
    });
  });

  describe('404', () => {
    it('rejects an unknown id', async () => {
      const answer = await server.call('GET', `${PATH}/${unknownId('conn')}`);
      expect(answer.body).to.include({ status: 404, code: 'NOT_FOUND' });
    });

    it('rejects the name of a connection, because a key_id is not an id', async () => {
      const { key_id: keyId } = await createConnection(server);
      expect((await server.call('GET', `${PATH}/${keyId}`)).status).to.equal(404);
    });

    it('returns the same for the id of another environment as for an unknown one (C1)', async () => {
      const { id } = await createConnection(server);
      const other = await addSecondEnvironment(server);
      const headers = { 'x-request-id': 'same' };
      const foreign = await other.call('GET', `${PATH}/${id}`, { headers });
      const unknown = await other.call('GET', `${PATH}/${unknownId('conn')}`, { headers });
      expect(foreign.status).to.equal(404);
      expect(foreign.text).to.equal(unknown.text);
    });
  });
});
