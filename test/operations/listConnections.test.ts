import { expect } from 'chai';
import { walkPages } from '../support/pages.ts';
import { createConnection, createProvider } from '../support/providers.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';

const PATH = '/api/v1/connections';

describe('listConnections', () => {
  let server: TestServer;
  let deleted: string;

  const keysOf = async (query: string) => {
    const answer = await server.call('GET', `${PATH}${query}`);
    expect(answer.status, answer.text).to.equal(200);
    expect(answer.body.total_size).to.equal(answer.body.connections.length);
    return answer.body.connections.map((connection: { key_id: string }) => connection.key_id);
  };

  before(async () => {
    server = await startTestServer();
    await createConnection(server, { key_id: 'github-oauth', organization_id: 'org_a', domains: ['acme.test'] });
    await createConnection(server, { key_id: 'github-token', type: 'BEARER_TOKEN', organization_id: 'org_b' });
    const complete = { client_id: 'id', client_secret: 'secret', organization_id: 'org_a' };
    await createConnection(server, { key_id: 'github-complete', ...complete, enabled: false });
    await createConnection(server, { connector: 'twilio', key_id: 'twilio', type: 'BASIC' });
    const gone = await createProvider(server, { display_name: 'Gone' });
    await createConnection(server, { connector: gone.identifier, key_id: 'of-deleted-provider' });
    await server.call('DELETE', `/api/v1/custom-providers/${gone.identifier}`);
    deleted = 'of-deleted-provider';
  });
  after(() => server.stop());

  describe('200', () => {
    it('returns all of them, newest first, without a page size', async () => {
      const answer = await server.call('GET', PATH);
      expect(answer.body.connections.map((c: { key_id: string }) => c.key_id)).to.deep.equal([
        deleted,
        'twilio',
        'github-complete',
        'github-token',
        'github-oauth',
      ]);
      expect(answer.body).to.include({ next_page_token: '', prev_page_token: '', total_size: 5 });
    });

    it('returns the fields of the description, and no settings', async () => {
      const answer = await server.call('GET', `${PATH}?organization_id=org_a&enabled=true`);
      const [connection] = answer.body.connections;
      expect(connection).to.deep.equal({
        id: connection.id,
        callback_url: `http://localhost/oauth/callback/${connection.id}`,
        key_id: 'github-oauth',
        organization_id: 'org_a',
        organization_name: '',
        domains: ['acme.test'],
        enabled: true,
        mcp_server_url: `http://localhost/mcp/${connection.id}`,
        provider: 'GITHUB',
        provider_key: 'github',
        status: 'DRAFT',
        type: 'OAUTH',
      });
      expect(connection.id).to.match(/^conn_[0-9a-hjkmnp-tv-z]{26}$/);
    });

    for (const [query, expected] of [
      ['?organization_id=org_a', ['github-complete', 'github-oauth']],
      ['?organization_id=org_a&enabled=false', ['github-complete']],
      ['?provider=GITHUB', ['github-complete', 'github-token', 'github-oauth']],
      ['?provider=GITHUB&status=IN_PROGRESS', ['github-complete']],
      ['?connector=twilio', ['twilio']],
      ['?connector=github&status=IN_PROGRESS', ['github-complete']],
      ['?connector=github&provider=OKTA', []],
      ['?connector=github&provider=GITHUB', ['github-complete', 'github-token', 'github-oauth']],
      ['?provider=OKTA', []],
      ['?status=COMPLETED', ['twilio', 'github-token']],
      ['?type=BEARER', ['github-token']],
      ['?type=BASIC', ['twilio']],
      ['?type=SAML', []],
      ['?organization_id=nobody', []],
    ] as [string, string[]][]) {
      it(`combines filters: ${query}`, async () => {
        expect(await keysOf(query)).to.deep.equal(expected);
      });
    }

    it('finds all connections of a provider, also when the provider was deleted', async () => {
      const all = await server.call('GET', PATH);
      const custom = all.body.connections.filter(
        (connection: { provider: string }) => connection.provider === 'CUSTOM',
      );
      expect(await keysOf('?provider=CUSTOM')).to.deep.equal(custom.map((c: { key_id: string }) => c.key_id));
      expect(custom.map((c: { key_id: string }) => c.key_id)).to.include(deleted);
    });

    it('pages in both directions', async () => {
      const pages = await walkPages(server, `${PATH}?page_size=2`, 'connections');
      expect(pages.map((page) => page.length)).to.deep.equal([2, 2, 1]);
      const filtered = await walkPages(server, `${PATH}?page_size=1&organization_id=org_a`, 'connections');
      expect(filtered.flat().map((c) => c.key_id)).to.deep.equal(['github-complete', 'github-oauth']);
    });
  });

  describe('400', () => {
    it('refuses a page token of other filters or of another list, and a forged one', async () => {
      const first = await server.call('GET', `${PATH}?page_size=1`);
      const token = encodeURIComponent(first.body.next_page_token);
      for (const path of [
        `${PATH}?page_size=1&enabled=true&page_token=${token}`,
        `/api/v1/connected_accounts?page_token=${token}`,
        `${PATH}?page_token=v1.invented`,
      ]) {
        const answer = await server.call('GET', path);
        expect(answer.body, path).to.include({ status: 400, code: 'INVALID_PAGE_TOKEN' });
      }
    });

    for (const [query, field] of [
      ['page_size=0', 'page_size'],
      ['page_size=101', 'page_size'],
      ['page_size=ten', 'page_size'],
      ['status=BROKEN', 'status'],
      ['enabled=maybe', 'enabled'],
      ['enabled=true&enabled=false', 'enabled'],
      ['offset=10', 'offset'],
    ]) {
      it(`names the parameter of ?${query}`, async () => {
        const answer = await server.call('GET', `${PATH}?${query}`);
        expect(answer.body).to.include({ status: 400, code: 'VALIDATION_FAILED' });
        expect(answer.body.errors.map((e: { field: string }) => e.field)).to.deep.equal([field]);
      });
    }
  });
});
