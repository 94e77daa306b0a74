import { expect } from 'chai';
import { startTestServer, type TestServer } from '../support/server.ts';

const PATH = '/api/v1/mcp/login_provider';

describe('deleteMcpLoginProvider', () => {
  let server: TestServer;

  before(async () => {
    server = await startTestServer();
  });
  after(() => server.stop());

  it('200: deletes it', async () => {
    await server.call('PUT', PATH, { body: { type: 'JWT', issuer: 'http://127.0.0.1:9' } });
    const deleted = await server.call('DELETE', PATH);
    expect([deleted.status, deleted.body]).to.deep.equal([200, {}]);
    expect((await server.call('GET', PATH)).status).to.equal(404);
  });

  it('404: the environment has no login provider', async () => {
    expect((await server.call('DELETE', PATH)).body).to.include({ status: 404, code: 'NOT_FOUND' });
  });
});
