import { expect } from 'chai';
import { createProvider } from '../support/providers.ts';
import { addSecondEnvironment } from '../support/second-environment.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';

const PATH = '/api/v1/custom-providers';

describe('getCustomProvider', () => {
  let server: TestServer;

  before(async () => {
    server = await startTestServer();
  });
  after(() => server.stop());

  it('200: returns the same as create', async () => {
    const provider = await createProvider(server, { metadata: { team: 'sales' } });
    const answer = await server.call('GET', `${PATH}/${provider.identifier}`);
    expect(answer.status).to.equal(200);
    expect(answer.body.provider).to.deep.equal(provider);
  });

  describe('404', () => {
    for (const identifier of ['unknown', 'github', 'prv_00000000000000000000000000', '__proto__', '%00', '%2e%2e']) {
      it(`rejects ${identifier}`, async () => {
        const answer = await server.call('GET', `${PATH}/${identifier}`);
        expect(answer.body).to.include({ status: 404, code: 'NOT_FOUND' });
      });
    }

    it('returns the same for a provider of another environment as for an unknown one (C1)', async () => {
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
