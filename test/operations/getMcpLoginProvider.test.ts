import { expect } from 'chai';
import { startTestServer, type TestServer } from '../support/server.ts';

const PATH = '/api/v1/mcp/login_provider';

describe('getMcpLoginProvider', () => {
  let server: TestServer;

  before(async () => {
    server = await startTestServer();
  });
  after(() => server.stop());

  it('200: returns the client and the address to register, without the secret', async () => {
    const body = { type: 'OIDC', issuer: 'http://127.0.0.1:9', client_id: 'valetkey', client_secret: 'secret-1' };
    expect((await server.call('PUT', PATH, { body })).status).to.equal(200);
    const got = await server.call('GET', PATH);
    expect(got.status).to.equal(200);
    expect(got.body.login_provider.oidc).to.deep.equal({
      client_id: 'valetkey',
      has_client_secret: true,
      token_endpoint_auth_method: 'client_secret_basic',
      scopes: ['openid'],
      callback_url: 'http://localhost/oauth/login/callback',
      portal_callback_url: 'http://localhost/portal/login/callback',
    });
    expect(got.text).not.to.include('secret-1');
  });

  it('404: the environment has none', async () => {
    await server.call('DELETE', PATH);
    expect((await server.call('GET', PATH)).body).to.include({ status: 404, code: 'NOT_FOUND' });
  });
});
