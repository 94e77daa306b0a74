import { expect } from 'chai';
import { decodeProtectedHeader } from 'jose';
import { signIdentityToken } from '../../core/tokens/identity-token.ts';
import { identityClaims } from '../../core/trusted-idp/identity-token.ts';
import { addSecondEnvironment } from '../support/second-environment.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';

const PATH = '/.well-known/openid-configuration';

describe('getIdentityProviderMetadata', () => {
  let server: TestServer;

  before(async () => {
    server = await startTestServer({ env: { BASE_URL: 'https://keys.example.com' } });
  });
  after(() => server.stop());

  it('200: names the base URL as issuer, the keys and their algorithm (OpenID Connect Discovery 1.0 §4.3)', async () => {
    const answer = await server.call('GET', PATH, { token: null });
    expect(answer.status).to.equal(200);
    expect(answer.headers['cache-control']).to.equal('public, max-age=300');
    expect(answer.body).to.deep.equal({
      issuer: 'https://keys.example.com',
      jwks_uri: 'https://keys.example.com/.well-known/jwks.json',
      response_types_supported: ['id_token'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['ES256'],
      claims_supported: ['iss', 'aud', 'sub', 'iat', 'exp', 'jti'],
    });
  });

  it('is correct: the published keys include the signing key, with its algorithm', async () => {
    const { body } = await server.call('GET', PATH, { token: null });
    const { keys } = (await server.call('GET', new URL(body.jwks_uri).pathname, { token: null })).body;
    const identity = { issuer: body.issuer, audience: 'someone', subject: 'somebody' };
    const claims = identityClaims(identity, Date.now(), server.parts.random);
    const { kid, alg, typ } = decodeProtectedHeader(signIdentityToken(server.parts.signingKeys.current, claims));
    expect([alg, typ]).to.deep.equal([body.id_token_signing_alg_values_supported[0], 'JWT']);
    expect(keys.map((key: { kid: string }) => key.kid)).to.include(kid);
  });

  it("uses another issuer than the API's access tokens (RFC 8725 §3.11)", async () => {
    const identity = {
      issuer: 'https://keys.example.com',
      audience: 'https://keys.example.com',
      subject: 'test-client',
    };
    const token = signIdentityToken(
      server.parts.signingKeys.current,
      identityClaims(identity, Date.now(), server.parts.random),
    );
    expect((await server.call('GET', '/api/v1/tools', { token })).status).to.equal(401);
  });

  it('describes the environment of the host', async () => {
    const other = await addSecondEnvironment(server);
    const answer = await other.call('GET', PATH, { token: null });
    expect(answer.body.issuer).to.equal(other.environment.baseUrl);
  });
});
