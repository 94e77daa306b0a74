import { expect } from 'chai';
import { createAccount } from '../support/accounts.ts';
import { auditOf } from '../support/audit.ts';
import { API_KEY_PATTERN, createProvider } from '../support/providers.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';

const PATH = '/api/v1/custom-providers';
const HERE = { proxy_enabled: true, proxy_url: 'https://one.example.com/v1' };
const ELSEWHERE = { proxy_url: 'https://two.example.com/v1' };

describe('updateCustomProvider', () => {
  let server: TestServer;

  const update = (identifier: string, body: unknown) => server.call('PUT', `${PATH}/${identifier}`, { body });
  const accountOf = (connector: string) =>
    createAccount(server, {
      connector,
      connectedAccount: { authorization_details: { static_auth: { details: { api_key: 'key-of-the-account' } } } },
    });
  const stateOf = async (id: string) => {
    const answer = await server.call('GET', `/api/v1/connected_accounts/details?id=${id}`);
    return answer.body.connected_account;
  };

  before(async () => {
    server = await startTestServer();
  });
  after(() => server.stop());

  describe('200', () => {
    it('changes the given fields and keeps the rest', async () => {
      const before = await createProvider(server, { ...HERE, description: 'Old', metadata: { team: 'a', tier: 'b' } });
      const answer = await update(before.identifier, { display_name: 'New name', metadata: { team: 'c' } });
      expect(answer.status, answer.text).to.equal(200);
      expect(answer.body.provider).to.deep.equal({ ...before, display_name: 'New name', metadata: { team: 'c' } });
    });

    it('keeps the identifier when the name changes', async () => {
      const { identifier } = await createProvider(server, { display_name: 'Before' });
      await update(identifier, { display_name: 'After' });
      const answer = await server.call('GET', `${PATH}/${identifier}`);
      expect(answer.body.provider).to.include({ identifier: 'before', display_name: 'After' });
    });

    it('clears fields that are null', async () => {
      const { identifier } = await createProvider(server, {
        description: 'Text',
        icon_src: 'https://acme.example/icon.svg',
        metadata: { team: 'a' },
        proxy_url: 'https://one.example.com',
      });
      const answer = await update(identifier, { description: null, icon_src: null, metadata: null, proxy_url: null });
      expect(answer.body.provider).to.deep.include({ description: '', icon_src: '', metadata: {}, proxy_url: '' });
    });

    it('updates whether the provider is an MCP server from its patterns', async () => {
      const { identifier } = await createProvider(server, HERE);
      const mcp = await update(identifier, { auth_patterns: [{ ...API_KEY_PATTERN, is_mcp: true }] });
      expect(mcp.body.provider.is_custom_mcp).to.equal(true);
      const plain = await update(identifier, { auth_patterns: [API_KEY_PATTERN] });
      expect(plain.body.provider.is_custom_mcp).to.equal(false);
    });

    it('is in the audit log with the number of deactivated accounts', async () => {
      const provider = await createProvider(server, HERE);
      await accountOf(provider.identifier);
      await update(provider.identifier, ELSEWHERE);
      const [row] = await auditOf(server, provider.id);
      expect(row).to.deep.include({ action: 'custom_provider.updated', details: { accounts_parked: 1 } });
    });
  });

  describe('accounts that were connected for other hosts (P2)', () => {
    for (const [what, before, change] of [
      ['the host of proxy_url changes', HERE, ELSEWHERE],
      ['the proxy is switched on', { ...HERE, proxy_enabled: false }, { proxy_enabled: true }],
      ['the proxy is switched off', HERE, { proxy_enabled: false }],
      ['a label is added to the host', HERE, { proxy_url: 'https://sub.one.example.com/v1' }],
    ] as const) {
      it(`wait for new credentials when ${what}`, async () => {
        const { identifier } = await createProvider(server, before);
        const { id } = await accountOf(identifier);
        expect((await update(identifier, change)).status).to.equal(200);
        const account = await stateOf(id);
        expect(account.status).to.equal('PENDING_AUTH');
        expect(account.status_reason).to.include('hosts');
      });
    }

    it('keep waiting when the host changes back, and must be connected again', async () => {
      const { identifier } = await createProvider(server, HERE);
      const { id } = await accountOf(identifier);
      await update(identifier, ELSEWHERE);
      await update(identifier, { proxy_url: HERE.proxy_url });
      expect((await stateOf(id)).status).to.equal('PENDING_AUTH');
    });

    it('are active again with credentials that were given for the new host', async () => {
      const { identifier } = await createProvider(server, HERE);
      const { id } = await accountOf(identifier);
      await update(identifier, ELSEWHERE);
      const authorization_details = { static_auth: { details: { api_key: 'for-the-new-host' } } };
      const answer = await server.call('PUT', '/api/v1/connected_accounts', {
        body: { id, connected_account: { authorization_details } },
      });
      expect(answer.body.connected_account.status).to.equal('ACTIVE');
    });

    it('stay active when only the path, the name or the metadata change', async () => {
      const { identifier } = await createProvider(server, HERE);
      const { id } = await accountOf(identifier);
      const change = { proxy_url: 'https://one.example.com/v2', display_name: 'Other', metadata: { team: 'a' } };
      expect((await update(identifier, change)).status).to.equal(200);
      expect((await stateOf(id)).status).to.equal('ACTIVE');
    });

    it('stay active without credentials, because nothing could be sent to a wrong host', async () => {
      const { identifier } = await createProvider(server, { ...HERE, auth_patterns: [{ type: 'NO_AUTH' }] });
      const { id } = await createAccount(server, { connector: identifier, connectedAccount: {} });
      expect((await stateOf(id)).status).to.equal('ACTIVE');
      await update(identifier, ELSEWHERE);
      expect((await stateOf(id)).status).to.equal('ACTIVE');
    });
  });

  describe('400', () => {
    it('validates the provider in its state after the change', async () => {
      const { identifier } = await createProvider(server);
      const without = await update(identifier, { proxy_enabled: true });
      expect(without.body.errors[0].field).to.equal('proxy_url');
      const field = { field_name: 'domain', label: 'Domain', input_type: 'text', is_path_param: true };
      const place = await update(identifier, { proxy_url: 'https://{{domain}}.example.com' });
      expect(place.body.code).to.equal('INVALID_AUTH_PATTERN');
      const both = await update(identifier, {
        proxy_url: 'https://{{domain}}.example.com',
        auth_patterns: [{ ...API_KEY_PATTERN, account_fields: [field] }],
      });
      expect(both.status, both.text).to.equal(200);
    });

    for (const [what, body, field] of [
      [
        '21 pairs of metadata (P8)',
        { metadata: Object.fromEntries([...Array(21).keys()].map((n) => [`key${n}`, 'v'])) },
        'metadata',
      ],
      ['a value of 257 characters (P8)', { metadata: { key: 'v'.repeat(257) } }, 'metadata.key'],
      ['an address without https (P1)', { proxy_url: 'http://one.example.com' }, 'proxy_url'],
      ['an address of the host itself (P1)', { proxy_url: 'https://127.0.0.1' }, 'proxy_url'],
      ['an empty name', { display_name: '' }, 'display_name'],
      ['no name', { display_name: null }, 'display_name'],
      ['no patterns', { auth_patterns: null }, 'auth_patterns'],
      ['another identifier (C3)', { identifier: 'mine' }, 'identifier'],
      ['a priority (C3)', { display_priority: 1000 }, 'display_priority'],
    ] as [string, Record<string, unknown>, string][]) {
      it(`refuses ${what} and changes nothing`, async () => {
        const before = await createProvider(server);
        const answer = await update(before.identifier, { description: 'Changed', ...body });
        expect(answer.status, answer.text).to.equal(400);
        expect(answer.body.errors.map((e: { field: string }) => e.field)).to.include(field);
        const after = await server.call('GET', `${PATH}/${before.identifier}`);
        expect(after.body.provider).to.deep.equal(before);
      });
    }
  });

  describe('404', () => {
    for (const identifier of ['unknown', 'github']) {
      it(`rejects ${identifier}, which is not a custom provider`, async () => {
        const answer = await update(identifier, { display_name: 'Mine now' });
        expect(answer.body).to.include({ status: 404, code: 'NOT_FOUND' });
      });
    }
  });

  describe('409', () => {
    it('refuses to remove a pattern with accounts, and changes nothing', async () => {
      const patterns = [API_KEY_PATTERN, { type: 'BEARER_TOKEN' }];
      const before = await createProvider(server, { ...HERE, auth_patterns: patterns });
      const { id } = await accountOf(before.identifier);
      const answer = await update(before.identifier, { auth_patterns: [patterns[1]], display_name: 'Changed' });
      expect(answer.body).to.include({ status: 409, code: 'PROVIDER_IN_USE' });
      expect(answer.body.errors[0].field).to.equal('auth_patterns');
      const after = await server.call('GET', `${PATH}/${before.identifier}`);
      expect(after.body.provider).to.deep.equal(before);
      expect((await stateOf(id)).status).to.equal('ACTIVE');
    });

    it('removes a pattern that no account uses, and one whose accounts are deleted', async () => {
      const patterns = [API_KEY_PATTERN, { type: 'BEARER_TOKEN' }];
      const { identifier } = await createProvider(server, { auth_patterns: patterns });
      const { id } = await accountOf(identifier);
      expect((await update(identifier, { auth_patterns: [patterns[0]] })).status).to.equal(200);
      await update(identifier, { auth_patterns: patterns });
      await server.call('POST', '/api/v1/connected_accounts:delete', { body: { id } });
      expect((await update(identifier, { auth_patterns: [patterns[1]] })).status).to.equal(200);
    });
  });
});
