import { expect } from 'chai';
import { createProvider } from '../support/providers.ts';
import { addSecondEnvironment } from '../support/second-environment.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';

const PATH = '/api/v1/providers';

describe('getProvider', () => {
  let server: TestServer;

  before(async () => {
    server = await startTestServer();
  });
  after(() => server.stop());

  describe('200', () => {
    it('returns a built-in provider with its patterns', async () => {
      const { status, body } = await server.call('GET', `${PATH}/github`);
      expect(status).to.equal(200);
      expect(body.provider).to.deep.include({ identifier: 'github', is_custom: false, metadata: {}, proxy_url: '' });
      expect(body.provider.auth_patterns.map((p: { type: string }) => p.type)).to.include('OAUTH');
    });

    it('returns every built-in provider within the contract', async () => {
      const list = await server.call('GET', `${PATH}?is_custom=false&page_size=100`);
      for (const listed of list.body.providers) {
        const answer = await server.call('GET', `${PATH}/${listed.identifier}`);
        expect(answer.body.provider, listed.identifier).to.deep.equal(listed);
      }
    });

    it('returns a custom provider in the same form as its own operation', async () => {
      const { identifier } = await createProvider(server);
      const own = await server.call('GET', `/api/v1/custom-providers/${identifier}`);
      const answer = await server.call('GET', `${PATH}/${identifier}`);
      expect(answer.body).to.deep.equal(own.body);
    });
  });

  describe('404', () => {
    for (const identifier of ['unknown', 'constructor', '__proto__', 'GitHub']) {
      it(`rejects ${identifier}`, async () => {
        const answer = await server.call('GET', `${PATH}/${identifier}`);
        expect(answer.body).to.include({ status: 404, code: 'NOT_FOUND' });
      });
    }

    it('returns the same for a custom provider of another environment as for an unknown one (C1)', async () => {
      const { identifier } = await createProvider(server);
      const other = await addSecondEnvironment(server);
      const headers = { 'x-request-id': 'same' };
      const foreign = await other.call('GET', `${PATH}/${identifier}`, { headers });
      const unknown = await other.call('GET', `${PATH}/unknown`, { headers });
      expect(foreign.status).to.equal(404);
      expect(foreign.text.replace(identifier, 'unknown')).to.equal(unknown.text);
    });
  });
});
