import { expect } from 'chai';
import { createAccount } from '../support/accounts.ts';
import { createConnection, createProvider } from '../support/providers.ts';
import { addSecondEnvironment } from '../support/second-environment.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';

const PATH = '/api/v1/connections';

describe('createConnection', () => {
  let server: TestServer;

  const create = (body: unknown, headers: Record<string, string> = {}) => server.call('POST', PATH, { body, headers });

  before(async () => {
    server = await startTestServer();
  });
  after(() => server.stop());

  describe('201', () => {
    it('returns every setting except the client secret', async () => {
      const answer = await create({
        connector: 'github',
        key_id: 'github: acme-1',
        type: 'OAUTH',
        organization_id: 'org_acme',
        organization_name: 'Acme',
        domains: ['acme.test'],
        client_id: 'Iv1.client',
        client_secret: 'the-client-secret',
        scopes: ['repo'],
        allowed_tools: ['github_list_issues'],
        send_trace_context: true,
        verification_mode: 'NONE',
        post_user_verify_redirect_url: 'http://localhost:3000/connected',
        enabled: false,
      });
      expect(answer.status, answer.text).to.equal(201);
      expect(answer.body.connection).to.deep.include({
        key_id: 'github: acme-1',
        authorization_type: 'OAUTH',
        type: 'OAUTH',
        organization_id: 'org_acme',
        organization_name: 'Acme',
        domains: ['acme.test'],
        client_id: 'Iv1.client',
        has_client_secret: true,
        scopes: ['repo'],
        allowed_tools: ['github_list_issues'],
        send_trace_context: true,
        verification_mode: 'NONE',
        post_user_verify_redirect_url: 'http://localhost:3000/connected',
        enabled: false,
        status: 'IN_PROGRESS',
        missing_settings: [],
      });
      expect(answer.text).not.to.include('the-client-secret');
    });

    it('returns a draft with the list of missing settings', async () => {
      const connection = await createConnection(server, { connector: 'slack', client_id: 'only-an-id' });
      expect(connection).to.deep.include({
        status: 'DRAFT',
        missing_settings: ['client_secret'],
        has_client_secret: false,
      });
    });

    it('is complete immediately for types that require no settings of the environment', async () => {
      const connection = await createConnection(server, { type: 'BEARER_TOKEN' });
      expect(connection).to.include({ status: 'COMPLETED', type: 'BEARER', authorization_type: 'BEARER_TOKEN' });
    });

    it('uses the name and the first type of the provider when neither is given', async () => {
      const provider = await createProvider(server);
      const answer = await create({ connector: provider.identifier });
      expect(answer.body.connection).to.include({
        key_id: provider.identifier,
        provider: 'CUSTOM',
        provider_key: provider.identifier,
        type: 'API_KEY',
      });
    });

    it('allows accounts of a draft to have imported tokens', async () => {
      const draft = await createConnection(server);
      const account = await createAccount(server, {
        connector: draft.key_id,
        connectedAccount: { authorization_details: { oauth_token: { access_token: 'gho_imported' } } },
      });
      expect(account).to.include({ status: 'ACTIVE', connection_id: draft.id });
    });

    it('returns the first response again for a known idempotency key', async () => {
      const key = { 'idempotency-key': 'create-connection-1' };
      const first = await create({ connector: 'notion', key_id: 'once' }, key);
      const second = await create({ connector: 'notion', key_id: 'once' }, key);
      expect(second.status).to.equal(201);
      expect(second.body).to.deep.equal(first.body);
      expect(second.headers['idempotency-replayed']).to.equal('true');
      const list = await server.call('GET', PATH);
      expect(list.body.connections.filter((c: { key_id: string }) => c.key_id === 'once')).to.have.length(1);
    });
  });

  describe('400', () => {
    it('rejects an unknown connector', async () => {
      const answer = await create({ connector: 'invented' });
      expect(answer.body).to.include({ status: 400, code: 'UNKNOWN_CONNECTOR' });
      expect(answer.body.errors[0].field).to.equal('connector');
    });

    for (const type of ['OIDC', 'SAML', 'PASSWORD', 'PASSWORDLESS', 'WEBAUTHN', 'TRUSTED_IDP']) {
      it(`refuses the type ${type}, which this connector does not offer`, async () => {
        const answer = await create({ connector: 'github', key_id: 'x', type });
        expect(answer.body).to.include({ status: 400, code: 'UNSUPPORTED_CONNECTION_TYPE' });
        expect(answer.body.errors[0].field).to.equal('type');
      });
    }

    for (const [what, fields, field] of [
      ['a tool of another connector', { allowed_tools: ['slack_send_message'] }, 'allowed_tools[0]'],
      ['an invented tool', { allowed_tools: ['github_list_issues', 'github_fly'] }, 'allowed_tools[1]'],
      [
        'a redirect without https',
        { post_user_verify_redirect_url: 'http://example.com/' },
        'post_user_verify_redirect_url',
      ],
      [
        'a redirect with a password',
        { post_user_verify_redirect_url: 'https://a:b@c.test/' },
        'post_user_verify_redirect_url',
      ],
      [
        'a script as redirect',
        { post_user_verify_redirect_url: 'javascript:alert(1)' },
        'post_user_verify_redirect_url',
      ],
      ['a host that is none', { domains: ['not a host'] }, 'domains[0]'],
      ['an unknown field', { colour: 'red' }, 'colour'],
      ['what the service sets', { status: 'COMPLETED' }, 'status'],
      ['an odd name', { key_id: 'a/b' }, 'key_id'],
      ['no connector', { connector: undefined }, 'connector'],
    ] as [string, Record<string, unknown>, string][]) {
      it(`refuses ${what}`, async () => {
        const answer = await create({ connector: 'github', key_id: 'refused', ...fields });
        expect(answer.body).to.include({ status: 400, code: 'VALIDATION_FAILED' });
        expect(answer.body.errors.map((e: { field: string }) => e.field)).to.include(field);
      });
    }
  });

  describe('409', () => {
    it('refuses a name that exists', async () => {
      await create({ connector: 'github', key_id: 'taken' });
      const answer = await create({ connector: 'slack', key_id: 'taken' });
      expect(answer.body).to.include({ status: 409, code: 'CONNECTION_EXISTS' });
    });
  });

  describe('422', () => {
    it('refuses a known idempotency key with another body', async () => {
      const key = { 'idempotency-key': 'create-connection-2' };
      await create({ connector: 'notion', key_id: 'first' }, key);
      const answer = await create({ connector: 'notion', key_id: 'second' }, key);
      expect(answer.body).to.include({ status: 422, code: 'IDEMPOTENCY_KEY_REUSED' });
    });
  });

  describe('a production environment', () => {
    it('always verifies users and redirects to https only', async () => {
      const production = await addSecondEnvironment(server, { kind: 'PRODUCTION' });
      const answer = await production.call('POST', PATH, {
        body: {
          connector: 'github',
          verification_mode: 'NONE',
          post_user_verify_redirect_url: 'http://localhost:3000/connected',
        },
      });
      expect(answer.body.errors.map((e: { field: string }) => e.field)).to.deep.equal([
        'verification_mode',
        'post_user_verify_redirect_url',
      ]);
    });
  });
});
