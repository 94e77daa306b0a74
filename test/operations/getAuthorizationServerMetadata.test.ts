import { expect } from 'chai';
import { SCOPES } from '../../core/tokens/scopes.ts';
import { addSecondEnvironment } from '../support/second-environment.ts';
import type { TestServer } from '../support/server.ts';
import { CLIENT_ID, CLIENT_SECRET, startTestServer } from '../support/server.ts';
import { requestToken } from '../support/token-request.ts';

const PATH = '/.well-known/oauth-authorization-server';

describe('getAuthorizationServerMetadata', () => {
  let server: TestServer;

  before(async () => {
    server = await startTestServer({ env: { BASE_URL: 'https://keys.example.com' } });
  });
  after(() => server.stop());

  it('200: names the base URL as issuer, character for character (RFC 8414 §3.3)', async () => {
    const answer = await server.call('GET', PATH, { token: null });
    expect(answer.status).to.equal(200);
    expect(answer.body).to.deep.equal({
      issuer: 'https://keys.example.com',
      authorization_endpoint: 'https://keys.example.com/oauth/authorize',
      token_endpoint: 'https://keys.example.com/oauth/token',
      revocation_endpoint: 'https://keys.example.com/oauth/revoke',
      registration_endpoint: 'https://keys.example.com/oauth/register',
      jwks_uri: 'https://keys.example.com/.well-known/jwks.json',
      scopes_supported: [...SCOPES, 'tools:call', 'offline_access'],
      response_types_supported: ['code'],
      response_modes_supported: ['query'],
      grant_types_supported: ['client_credentials', 'authorization_code', 'refresh_token'],
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'none'],
      revocation_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'none'],
      code_challenge_methods_supported: ['S256'],
      client_id_metadata_document_supported: true,
      authorization_response_iss_parameter_supported: true,
      service_documentation: 'https://keys.example.com/docs',
    });
  });

  it('is correct: tokens contain the issuer, and every named path exists', async () => {
    const { body } = await server.call('GET', PATH, { token: null });
    const { access_token: token } = (await requestToken(server, { client_id: CLIENT_ID, client_secret: CLIENT_SECRET }))
      .body;
    const claims = JSON.parse(Buffer.from(token.split('.')[1], 'base64url').toString());
    expect([claims.iss, claims.aud]).to.deep.equal([body.issuer, body.issuer]);
    for (const address of [body.jwks_uri, body.service_documentation]) {
      const { pathname } = new URL(address);
      expect((await server.call('GET', pathname, { token: null })).status, pathname).to.be.oneOf([200, 301, 302]);
    }
  });

  it('describes the environment of the host', async () => {
    const other = await addSecondEnvironment(server);
    const answer = await other.call('GET', PATH, { token: null });
    expect(answer.body.issuer).to.equal(other.environment.baseUrl);
  });
});
