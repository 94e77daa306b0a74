import { expect } from 'chai';
import { SCOPES } from '../../core/tokens/scopes.ts';
import { auditOf } from '../support/audit.ts';
import type { TestServer } from '../support/server.ts';
import { CLIENT_ID, startTestServer } from '../support/server.ts';
import { requestToken } from '../support/token-request.ts';

const PATH = '/api/v1/api_clients';

describe('createApiClient', () => {
  let server: TestServer;

  const create = (body: unknown, headers: Record<string, string> = {}) => server.call('POST', PATH, { body, headers });

  before(async () => {
    server = await startTestServer();
  });
  after(() => server.stop());

  describe('201', () => {
    it('returns the secret once, and only its beginning later', async () => {
      const answer = await create({ name: 'Agent', scopes: ['tools:execute', 'tools:read'] });
      expect(answer.status, answer.text).to.equal(201);
      const { api_client: client, client_secret: secret } = answer.body;
      expect(client).to.deep.include({ name: 'Agent', scopes: ['tools:execute', 'tools:read'], enabled: true });
      expect(client.id).to.match(/^cli_[0-9a-hjkmnp-tv-z]{26}$/);
      expect(client.secrets).to.have.length(1);
      expect(secret).to.match(/^vks_[A-Za-z0-9_-]{43,}$/);
      expect(secret.startsWith(client.secrets[0].prefix)).to.equal(true);
      expect(client.secrets[0]).to.include({ expires_at: null });
      const list = await server.call('GET', `${PATH}?page_size=100`);
      expect(list.text).not.to.include(secret);
      expect(server.logs.join('\n')).not.to.include(secret);
    });

    it('creates a client that gets tokens immediately, with its scopes and no others', async () => {
      const { api_client: client, client_secret: secret } = (await create({ name: 'Reader', scopes: ['tools:read'] }))
        .body;
      const answer = await requestToken(server, { client_id: client.id, client_secret: secret });
      expect(answer.body.scope).to.equal('tools:read');
      const token = answer.body.access_token;
      expect((await server.call('GET', '/api/v1/tools', { token })).status).to.equal(200);
      expect((await server.call('GET', PATH, { token })).status).to.equal(403);
    });

    it('stores the secret nowhere in plain text', async () => {
      const { client_secret: secret } = (await create({ name: 'Hidden', scopes: ['tools:read'] })).body;
      const { id } = await server.parts.environmentOf('localhost');
      const page = await server.parts.store.read.apiClients.list(id, { size: 100 });
      for (const row of page.rows) {
        const client = await server.parts.store.read.apiClients.get(id, row.id, server.parts.now());
        expect(JSON.stringify(client)).not.to.include(secret);
      }
    });

    it('returns the same secret for a known idempotency key, which no other client can use', async () => {
      const headers = { 'idempotency-key': 'client-1' };
      const first = await create({ name: 'Once', scopes: ['tools:read'] }, headers);
      const second = await create({ name: 'Once', scopes: ['tools:read'] }, headers);
      expect(second.body).to.deep.equal(first.body);
      expect(second.headers['idempotency-replayed']).to.equal('true');
      const other = (await create({ name: 'Other', scopes: ['admin'] })).body;
      const { access_token: token } = (
        await requestToken(server, { client_id: other.api_client.id, client_secret: other.client_secret })
      ).body;
      const third = await server.call('POST', PATH, { token, headers, body: { name: 'Once', scopes: ['tools:read'] } });
      expect(third.body.api_client.id).not.to.equal(first.body.api_client.id);
    });

    it('is in the audit log with its scopes', async () => {
      const { api_client: client } = (await create({ name: 'Audited', scopes: ['admin'] })).body;
      const [row] = await auditOf(server, client.id);
      expect(row).to.deep.include({ action: 'api_client.created', actor: CLIENT_ID, details: { scopes: ['admin'] } });
    });
  });

  describe('400', () => {
    for (const [what, body, field] of [
      ['no name', { scopes: ['admin'] }, 'name'],
      ['an empty name', { name: '', scopes: ['admin'] }, 'name'],
      ['no scopes', { name: 'x' }, 'scopes'],
      ['an empty list of scopes', { name: 'x', scopes: [] }, 'scopes'],
      ['an invented scope', { name: 'x', scopes: ['root'] }, 'scopes[0]'],
      ['a scope twice', { name: 'x', scopes: ['admin', 'admin'] }, 'scopes'],
      ['a chosen secret', { name: 'x', scopes: ['admin'], client_secret: 'mine' }, 'client_secret'],
      ['a chosen id', { name: 'x', scopes: ['admin'], id: 'cli_mine' }, 'id'],
    ] as [string, Record<string, unknown>, string][]) {
      it(`refuses ${what}`, async () => {
        const answer = await create(body);
        expect(answer.body).to.include({ status: 400, code: 'VALIDATION_FAILED' });
        expect(answer.body.errors.map((e: { field: string }) => e.field)).to.include(field);
      });
    }

    it('accepts every existing scope', async () => {
      expect((await create({ name: 'All', scopes: [...SCOPES] })).status).to.equal(201);
    });
  });

  describe('422', () => {
    it('refuses a known idempotency key with other scopes', async () => {
      const headers = { 'idempotency-key': 'client-2' };
      await create({ name: 'Narrow', scopes: ['tools:read'] }, headers);
      const answer = await create({ name: 'Narrow', scopes: ['admin'] }, headers);
      expect(answer.body).to.include({ status: 422, code: 'IDEMPOTENCY_KEY_REUSED' });
    });
  });
});
