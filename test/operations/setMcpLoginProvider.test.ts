import { expect } from 'chai';
import { testClock } from '../support/clock.ts';
import { type JwtIssuer, startJwtIssuer } from '../support/jwt-issuer.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const PATH = '/api/v1/mcp/login_provider';

describe('setMcpLoginProvider', () => {
  let server: TestServer;
  let issuer: JwtIssuer;

  before(async () => {
    issuer = await startJwtIssuer(testClock().now);
    server = await startTestServer({ env: { VALETKEY_ENDPOINT_OVERRIDES: issuer.override } });
  });
  after(async () => {
    await server.stop();
    await issuer.stop();
  });

  const set = (body: object) => server.call('PUT', PATH, { body });
  const external = () => ({ type: 'JWT', issuer: issuer.issuer });
  // This issuer cannot be reached, but it is accepted.
  const provider = { type: 'OIDC', issuer: 'http://127.0.0.1:9', client_id: 'valetkey', client_secret: 'secret-1' };

  describe('200', () => {
    it('stores an external authorization server, with defaults', async () => {
      const { status, body } = await set(external());
      expect(status).to.equal(200);
      const { id, created_at, updated_at, ...rest } = body.login_provider;
      expect(id).to.match(/^lgp_/);
      expect(created_at).to.equal(updated_at);
      expect(rest).to.deep.equal({
        type: 'JWT',
        issuer: issuer.issuer,
        claims: { identifier: 'sub', user_id: 'sub', organization_id: null },
        allowed_organizations: null,
        user_verify_url: null,
        oidc: null,
        jwt: { audiences: [], client_ids: null, algorithms: ['RS256'], scopes: [] },
      });
      expect((await server.call('GET', PATH)).body).to.deep.equal(body);
    });

    it('keeps the id and the secret while users are identified in the same way', async () => {
      const first = (await set(provider)).body.login_provider;
      const { client_secret: _, ...without } = provider;
      const again = (await set({ ...without, token_endpoint_auth_method: 'client_secret_basic', scopes: ['email'] }))
        .body;
      expect(again.login_provider.id).to.equal(first.id);
      expect(again.login_provider.oidc).to.include({ has_client_secret: true, client_id: 'valetkey' });
      expect(again.login_provider.oidc.scopes).to.deep.equal(['openid', 'email']);
    });

    it('creates a new id with other claims, another issuer or fewer organizations', async () => {
      const ids = new Set<string>();
      const claims = { organization_id: 'tid' };
      for (const change of [
        {},
        { claims },
        { claims, allowed_organizations: ['a', 'b'] },
        { claims, allowed_organizations: ['a'] },
      ])
        ids.add((await set({ ...provider, ...change })).body.login_provider.id);
      ids.add((await set({ ...provider, issuer: 'http://localhost:9' })).body.login_provider.id);
      expect(ids.size).to.equal(5);
    });

    it('accepts a public client without a secret', async () => {
      const { client_secret: _, ...without } = provider;
      const { oidc } = (await set({ ...without, client_id: 'public' })).body.login_provider;
      expect(oidc).to.include({ has_client_secret: false, token_endpoint_auth_method: 'none' });
    });

    it('never returns the secret', async () => {
      expect((await set(provider)).text).not.to.include('secret-1');
      expect((await server.call('GET', '/api/v1/audit')).text).not.to.include('secret-1');
    });
  });

  describe('400', () => {
    const refused = async (body: object, field: string) => {
      const response = await set(body);
      expect(response.body, response.text).to.include({ status: 400, code: 'VALIDATION_FAILED' });
      expect(response.body.errors[0].field).to.equal(field);
    };

    it('names an issuer that is not https, has a query, or has no metadata', async () => {
      await refused({ ...external(), issuer: 'http://login.example' }, 'issuer');
      await refused({ ...external(), issuer: `${issuer.issuer}?tenant=1` }, 'issuer');
      await refused({ ...external(), issuer: `${issuer.issuer}/other` }, 'issuer');
    });

    it('names the metadata that an OpenID provider lacks', async () => {
      await refused({ type: 'OIDC', issuer: issuer.issuer, client_id: 'valetkey' }, 'issuer');
    });

    it('requires the secret again for another issuer, so that it is never sent elsewhere', async () => {
      await set(provider);
      const { client_secret: _, ...without } = provider;
      const method = { token_endpoint_auth_method: 'client_secret_basic' };
      await refused({ ...without, ...method, issuer: 'http://localhost:9' }, 'client_secret');
      expect((await server.call('GET', PATH)).body.login_provider.issuer).to.equal(provider.issuer);
    });

    it('requires a claim for the user or the organization, and a listed address', async () => {
      await refused({ ...external(), claims: { user_id: null } }, 'claims');
      await refused({ ...external(), user_verify_url: 'https://elsewhere.example/' }, 'user_verify_url');
    });

    it('names fields of the other type', async () => {
      await refused({ ...external(), client_id: 'valetkey' }, 'client_id');
      await refused({ ...external(), algorithms: ['HS256'] }, 'algorithms[0]');
    });
  });
});
