import { expect } from 'chai';
import { createConnector } from '../support/all-types.ts';
import type { TestClock } from '../support/clock.ts';
import { testClock } from '../support/clock.ts';
import { dumpDatabase } from '../support/database-file.ts';
import type { TestResponse, TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';

const PATH = '/api/v1/connected_accounts';

describe('createConnectedAccount', () => {
  let server: TestServer;
  let clock: TestClock;
  /** A connector that accepts any API key. */
  let desk: string;
  let made = 0;

  before(async () => {
    clock = testClock();
    server = await startTestServer({ overrides: { now: clock.now } });
    desk = await createConnector(server, [{ type: 'API_KEY' }]);
  });
  after(() => server.stop());

  const create = (body: Record<string, unknown>, token?: string): Promise<TestResponse> =>
    server.call('POST', PATH, { body, ...(token && { token }) });
  const connectionOf = async (id: string) => (await server.call('GET', `/api/v1/connections/${id}`)).body.connection;
  const fieldsOf = (answer: TestResponse): string[] => answer.body.errors.map((e: { field: string }) => e.field);
  const withKey = (api_key: unknown) => ({ authorization_details: { static_auth: { details: { api_key } } } });
  const withToken = (access_token: string) => ({ authorization_details: { oauth_token: { access_token } } });

  /** Returns a valid body; each call is for another account. */
  function right(changes: Record<string, unknown> = {}): Record<string, unknown> {
    made += 1;
    return { connector: desk, identifier: `account-${made}`, user_id: 'user-1', ...changes };
  }

  describe('201', () => {
    it('returns the account in full', async () => {
      const { status, body } = await create({
        connector: desk,
        identifier: 'ada@acme.test',
        organization_id: 'org-1',
        user_id: 'user-1',
        connected_account: { api_config: { region: 'eu', pages: { size: 50 } }, ...withKey('sk_test_1') },
      });
      expect(status).to.equal(201);
      const { id, connection_id, ...account } = body.connected_account;
      expect(Object.keys(body)).to.deep.equal(['connected_account']);
      expect(id).to.match(/^ca_[0-9a-hjkmnp-tv-z]{26}$/);
      expect(connection_id).to.match(/^conn_/);
      expect(account).to.deep.equal({
        connector: desk,
        provider: desk,
        organization_id: 'org-1',
        user_id: 'user-1',
        identifier: 'ada@acme.test',
        authorization_type: 'API_KEY',
        status: 'ACTIVE',
        status_reason: '',
        token_expires_at: null,
        last_used_at: null,
        created_at: '2026-06-01T12:00:00.000Z',
        updated_at: '2026-06-01T12:00:00.000Z',
        api_config: { region: 'eu', pages: { size: 50 } },
        authorization_details: { static_auth: { details: { api_key: 'sk_test_1' } } },
      });
    });

    it('is PENDING_AUTH without credentials', async () => {
      for (const connected_account of [undefined, {}, { authorization_details: {} }, { api_config: { a: 1 } }]) {
        const { body } = await create(right({ connected_account }));
        expect(body.connected_account.status).to.equal('PENDING_AUTH');
      }
    });

    it('belongs to an organization, a user, or a user of an organization; omitted values are empty', async () => {
      const { body } = await create(right({ organization_id: 'org-1', user_id: undefined }));
      expect(body.connected_account).to.include({ organization_id: 'org-1', user_id: '' });
      const second = await create(right());
      expect(second.body.connected_account).to.include({ organization_id: '', user_id: 'user-1' });
    });

    it('omits null members of api_config, because null removes a key', async () => {
      const { body } = await create(
        right({ connected_account: { api_config: { a: null, b: { c: null, d: [null] } } } }),
      );
      expect(body.connected_account.api_config).to.deep.equal({ b: { d: [null] } });
    });

    it('hides the credentials from a client that may not read them', async () => {
      const token = server.token('accounts:write');
      const answer = await create(right({ connected_account: withKey('sk_hidden') }), token);
      expect(answer.status).to.equal(201);
      expect(answer.body.connected_account.authorization_details).to.deep.equal({ static_auth: { details: {} } });
      expect(answer.text).not.to.include('sk_hidden');
    });

    it('accepts values at their limits', async () => {
      const cases: Record<string, string>[] = [
        { identifier: 'x' },
        { identifier: 'x'.repeat(512) },
        { identifier: '😀'.repeat(512) },
        { user_id: 'u' },
        { user_id: 'u'.repeat(100) },
        { organization_id: '组'.repeat(100) },
        { identifier: '"; drop table accounts; --' },
        { identifier: 'a/b?c#d%00&e=f' },
        { identifier: '\u202eright to left\u200b' },
        { user_id: ' ' },
      ];
      for (const changes of cases) {
        const answer = await create(right(changes));
        expect(answer.status, JSON.stringify(changes)).to.equal(201);
        expect(answer.body.connected_account).to.include(changes);
      }
    });
  });

  describe('201 with the first account of a connector', () => {
    const draft = { status: 'DRAFT', type: 'OAUTH', missing_settings: ['client_id', 'client_secret'] };

    it('creates a connection with the name of the connector', async () => {
      const connector = await createConnector(server, [{ type: 'API_KEY' }]);
      const { body } = await create(right({ connector, connected_account: withKey('k') }));
      const connection = await connectionOf(body.connected_account.connection_id);
      expect(connection).to.include({ key_id: connector, provider_key: connector, provider: 'CUSTOM', enabled: true });
      expect(connection).to.include({ type: 'API_KEY', status: 'COMPLETED', verification_mode: 'REQUIRED' });
      const second = await create(right({ connector }));
      expect(second.body.connected_account.connection_id).to.equal(connection.id);
    });

    it('creates a draft if client credentials are missing, whose accounts can have tokens', async () => {
      const { body } = await create(right({ connector: 'slack', connected_account: withToken('xoxb-1') }));
      expect(body.connected_account).to.include({ authorization_type: 'OAUTH', status: 'ACTIVE', provider: 'slack' });
      expect(await connectionOf(body.connected_account.connection_id)).to.deep.include(draft);
    });

    it('creates a draft of the provider’s first type without credentials', async () => {
      const { body } = await create(right({ connector: 'notion' }));
      expect(body.connected_account).to.include({ authorization_type: 'OAUTH', status: 'PENDING_AUTH' });
      expect(await connectionOf(body.connected_account.connection_id)).to.deep.include(draft);
    });

    it('uses the first type of the provider that matches the credentials', async () => {
      const token = { authorization_details: { static_auth: { details: { token: 'ghp_1' } } } };
      const { body } = await create(right({ connector: 'github', connected_account: token }));
      expect(body.connected_account).to.include({ authorization_type: 'BEARER_TOKEN', status: 'ACTIVE' });
      const connection = await connectionOf(body.connected_account.connection_id);
      expect(connection).to.include({
        type: 'BEARER',
        authorization_type: 'BEARER_TOKEN',
        status: 'COMPLETED',
        provider: 'GITHUB',
      });
      const [first, second] = [{ type: 'API_KEY' as const }, { type: 'BASIC' as const }];
      const connector = await createConnector(server, [first, second]);
      const basic = { authorization_details: { static_auth: { details: { username: 'a', password: 'b' } } } };
      const typed = await create(right({ connector, connected_account: basic }));
      expect(typed.body.connected_account.authorization_type).to.equal('BASIC');
    });

    it('creates no connection when the account is refused', async () => {
      const connector = await createConnector(server, [{ type: 'API_KEY' }]);
      const before = dumpDatabase(server);
      const refused = await create(right({ connector, connected_account: withKey(7) }));
      expect(refused.status).to.equal(400);
      expect(dumpDatabase(server)).to.deep.equal(before);
    });

    it('creates one for any number of concurrent requests', async () => {
      const connector = await createConnector(server, [{ type: 'API_KEY' }]);
      const answers = await Promise.all(Array.from({ length: 20 }, () => create(right({ connector }))));
      const connections = new Set(answers.map(({ body }) => body.connected_account.connection_id));
      expect(connections.size).to.equal(1);
    });
  });

  describe('201 at a connection', () => {
    it('finds the connection by its key_id, or by its provider if it is the only one', async () => {
      const provider = await createConnector(server, [{ type: 'API_KEY' }]);
      const body = { connector: provider, key_id: 'desk: Europe_1' };
      const { connection } = (await server.call('POST', '/api/v1/connections', { body })).body;
      for (const connector of ['desk: Europe_1', provider]) {
        const { connected_account: account } = (await create(right({ connector }))).body;
        expect(account).to.include({ connection_id: connection.id, connector: 'desk: Europe_1', provider });
      }
    });

    it('completes an OAuth connection that was in progress, and keeps the status of a draft', async () => {
      const client = { client_id: 'id', client_secret: 'secret-of-the-client' };
      const body = { connector: 'hubspot', key_id: 'hubspot-eu', type: 'OAUTH', ...client };
      const { connection } = (await server.call('POST', '/api/v1/connections', { body })).body;
      expect(connection.status).to.equal('IN_PROGRESS');
      await create(right({ connector: 'hubspot-eu' }));
      expect((await connectionOf(connection.id)).status, 'a pending account').to.equal('IN_PROGRESS');
      await create(right({ connector: 'hubspot-eu', connected_account: withToken('t') }));
      expect((await connectionOf(connection.id)).status, 'an active account').to.equal('COMPLETED');
    });
  });

  describe('400', () => {
    it('names each field that is missing', async () => {
      const nothing = await create({});
      expect(nothing.body.code).to.equal('VALIDATION_FAILED');
      expect(fieldsOf(nothing)).to.have.members(['connector', 'identifier']);
      const ownerless = await create({ connector: desk, identifier: 'i' });
      expect(ownerless.body.code).to.equal('INCOMPLETE_ACCOUNT_KEY');
      expect(fieldsOf(ownerless)).to.deep.equal(['organization_id']);
    });

    it('names each unknown member of authorization_details, also if it is the only one', async () => {
      const { id } = (await create({ connector: desk, identifier: 'known-members', user_id: 'u' })).body
        .connected_account;
      const field = (name: string) => `connected_account.authorization_details.${name}`;
      const cases: [object, string[]][] = [
        [{ bogus: {} }, ['bogus']],
        [{ bogus: 'x', other: null }, ['bogus', 'other']],
        [{ api_key: 'x' }, ['api_key']],
        [{ static_auth: { details: {} }, bogus: {} }, ['bogus']],
        [{ static_auth: { details: {}, bogus: {} } }, ['static_auth.bogus']],
        [JSON.parse('{ "__proto__": {} }'), ['__proto__']],
      ];
      for (const [authorization_details, names] of cases) {
        const connected_account = { authorization_details };
        const made = await create({ connector: desk, identifier: 'unknown-members', user_id: 'u', connected_account });
        const changed = await server.call('PUT', '/api/v1/connected_accounts', { body: { id, connected_account } });
        for (const answer of [made, changed]) {
          expect(answer.body, answer.text).to.include({ status: 400, code: 'VALIDATION_FAILED' });
          expect(fieldsOf(answer), answer.text).to.deep.equal(names.map(field));
        }
      }
    });

    it('says that authorization_details must be an object, which may be empty', async () => {
      const field = 'connected_account.authorization_details';
      for (const authorization_details of [null, [], [{}], 'x', 7]) {
        const answer = await create(right({ connected_account: { authorization_details } }));
        expect(answer.body.errors, answer.text).to.deep.equal([{ field, message: 'must be object' }]);
      }
      const empty = await create(right({ identifier: 'no-details', connected_account: { authorization_details: {} } }));
      expect(empty.status).to.equal(201);
    });

    it('names a field that is beyond its limit or of another type', async () => {
      const cases: [Record<string, unknown>, string][] = [
        [{ identifier: '' }, 'identifier'],
        [{ identifier: 'x'.repeat(513) }, 'identifier'],
        [{ identifier: '😀'.repeat(513) }, 'identifier'],
        [{ identifier: 'tab\there' }, 'identifier'],
        [{ identifier: '\u0000' }, 'identifier'],
        [{ identifier: '\u0085' }, 'identifier'],
        [{ identifier: 7 }, 'identifier'],
        [{ identifier: null }, 'identifier'],
        [{ user_id: '' }, 'user_id'],
        [{ user_id: 'u'.repeat(101) }, 'user_id'],
        [{ user_id: 'a\u007fb' }, 'user_id'],
        [{ organization_id: 'o'.repeat(101) }, 'organization_id'],
        [{ organization_id: ['org'] }, 'organization_id'],
        [{ connector: '' }, 'connector'],
        [{ connector: 'c'.repeat(101) }, 'connector'],
        [{ connector: 'git.hub' }, 'connector'],
        [{ connector: 'gïthub' }, 'connector'],
        [{ connected_account: [] }, 'connected_account'],
        [{ connected_account: null }, 'connected_account'],
        [{ connected_account: { api_config: [] } }, 'connected_account.api_config'],
        [{ connected_account: { api_config: 'x' } }, 'connected_account.api_config'],
        [{ connected_account: { authorization_details: 'x' } }, 'connected_account.authorization_details'],
      ];
      for (const [changes, field] of cases) {
        const answer = await create(right(changes));
        expect(answer.body, JSON.stringify(changes)).to.include({ status: 400, code: 'VALIDATION_FAILED' });
        expect(new Set(fieldsOf(answer)), JSON.stringify(changes)).to.deep.equal(new Set([field]));
      }
    });

    it('names a credential that is beyond its limit', async () => {
      const oauth = 'connected_account.authorization_details.oauth_token';
      const cases: [Record<string, unknown>, string][] = [
        [{ access_token: '' }, `${oauth}.access_token`],
        [{ access_token: 'x'.repeat(16_385) }, `${oauth}.access_token`],
        [{ refresh_token: null }, `${oauth}.refresh_token`],
        [{ scopes: 'read' }, `${oauth}.scopes`],
        [{ scopes: [''] }, `${oauth}.scopes[0]`],
        [{ scopes: Array.from({ length: 201 }, (_, i) => `s${i}`) }, `${oauth}.scopes`],
        [{ domain: 'd'.repeat(256) }, `${oauth}.domain`],
      ];
      for (const [oauth_token, field] of cases) {
        const answer = await create(right({ connected_account: { authorization_details: { oauth_token } } }));
        expect(answer.body.code, field).to.equal('VALIDATION_FAILED');
        expect(fieldsOf(answer), field).to.include(field);
      }
      const largest = { access_token: 'x'.repeat(16_384), domain: 'd'.repeat(255) };
      const connector = await createConnector(server, [
        { type: 'OAUTH', oauth_config: { issuer: 'https://id.acme.test' } },
      ]);
      const taken = await create(
        right({ connector, connected_account: { authorization_details: { oauth_token: largest } } }),
      );
      expect(taken.status).to.equal(201);
    });

    it('rejects two kinds of credentials together, or a kind without its object', async () => {
      const two = { oauth_token: { access_token: 'x' }, static_auth: { details: {} } };
      for (const authorization_details of [
        two,
        { oauth_token: null },
        { static_auth: {} },
        { workspace_dwd: {} },
        { x: {} },
      ]) {
        const answer = await create(right({ connected_account: { authorization_details } }));
        expect(answer.body, JSON.stringify(authorization_details)).to.include({
          status: 400,
          code: 'VALIDATION_FAILED',
        });
        expect(answer.body.errors).not.to.have.lengthOf(0);
      }
    });

    it('rejects a connector that is neither a connection nor a provider', async () => {
      const before = dumpDatabase(server);
      for (const connector of ['no-such-connector', 'Stripe', 'stripe ', 'constructor']) {
        const answer = await create(right({ connector }));
        expect(answer.body, connector).to.include({ status: 400, code: 'UNKNOWN_CONNECTOR' });
        expect(fieldsOf(answer)).to.deep.equal(['connector']);
      }
      expect(dumpDatabase(server)).to.deep.equal(before);
    });

    it('lists the connections of a provider that has several', async () => {
      const provider = await createConnector(server, [{ type: 'API_KEY' }]);
      for (const key_id of ['desk-a', 'desk-b']) {
        await server.call('POST', '/api/v1/connections', { body: { connector: provider, key_id } });
      }
      const answer = await create(right({ connector: provider }));
      expect(answer.body).to.include({ status: 400, code: 'AMBIGUOUS_CONNECTOR' });
      expect(answer.body.errors).to.deep.equal([{ field: 'connector', message: 'must be one of desk-b, desk-a' }]);
    });

    it('rejects a connection whose provider was deleted', async () => {
      const connector = await createConnector(server, [{ type: 'API_KEY' }]);
      await create(right({ connector }));
      await server.call('DELETE', `/api/v1/custom-providers/${connector}`);
      const answer = await create(right({ connector }));
      expect(answer.body).to.include({ status: 400, code: 'UNKNOWN_CONNECTOR' });
    });

    it('refuses settings that are invalid in the provider’s address (P1)', async () => {
      const field = { field_name: 'domain', label: 'Domain', input_type: 'text' as const, required: true };
      const pattern = { type: 'API_KEY' as const, account_fields: [{ ...field, is_path_param: true }] };
      const connector = await createConnector(server, [pattern], { proxyUrl: 'https://{{domain}}.acme.test/api' });
      for (const domain of ['evil.test/', 'a.b', 'evil.test#', '-', 'a b', '', '169.254.169.254/', 'x@y', 'a\\b']) {
        const answer = await create(right({ connector, connected_account: { api_config: { domain } } }));
        expect(answer.body, domain).to.include({ status: 400, code: 'INVALID_API_CONFIG' });
        expect(fieldsOf(answer)).to.include('connected_account.api_config.domain');
      }
      const taken = await create(right({ connector, connected_account: { api_config: { domain: 'customer-7' } } }));
      expect(taken.status).to.equal(201);
      const bases = [
        'ftp://a.test',
        'https://u:p@a.test',
        'https://a.test/?q',
        'https://a.test/../b',
        'a.test',
        'javascript:x',
      ];
      for (const base_url of bases) {
        const answer = await create(right({ connector: 'http', connected_account: { api_config: { base_url } } }));
        expect(answer.body, base_url).to.include({ status: 400, code: 'INVALID_API_CONFIG' });
        expect(fieldsOf(answer)).to.include('connected_account.api_config.base_url');
      }
    });
  });

  describe('409', () => {
    it('refuses the same connection, owner and identifier, regardless of how the connection is named', async () => {
      const provider = await createConnector(server, [{ type: 'API_KEY' }]);
      await server.call('POST', '/api/v1/connections', { body: { connector: provider, key_id: 'only-one' } });
      const body = right({ connector: 'only-one', organization_id: 'o' });
      const first = await create(body);
      expect(first.status).to.equal(201);
      for (const connector of ['only-one', provider]) {
        const again = await create({ ...body, connector, connected_account: withKey('another') });
        expect(again.body).to.include({ status: 409, code: 'ACCOUNT_EXISTS' });
      }
      const kept = await server.call('GET', `${PATH}/auth?id=${first.body.connected_account.id}`);
      expect(kept.body.connected_account).to.deep.equal(first.body.connected_account);
    });

    it('is returned only if no part of the key differs', async () => {
      const connector = await createConnector(server, [{ type: 'API_KEY' }]);
      const body = { connector, identifier: 'i', organization_id: 'o', user_id: 'u' };
      const variants = [
        body,
        { ...body, identifier: 'I' },
        { ...body, organization_id: 'o2' },
        { ...body, user_id: 'u2' },
        { ...body, organization_id: undefined },
        { ...body, user_id: undefined },
        // Would equal the first one if the server concatenated the ids of organization and user without a separator.
        { ...body, organization_id: 'ou', user_id: undefined },
        { ...body, connector: await createConnector(server, [{ type: 'API_KEY' }]) },
      ];
      for (const variant of variants) expect((await create(variant)).status, JSON.stringify(variant)).to.equal(201);
      for (const variant of variants) expect((await create(variant)).status, JSON.stringify(variant)).to.equal(409);
    });

    it('is returned to ninety-nine of a hundred concurrent requests (C10)', async () => {
      const body = right();
      const answers = await Promise.all(Array.from({ length: 100 }, () => create(body)));
      const statuses = answers.map(({ status }) => status);
      expect(statuses.filter((status) => status === 201)).to.have.lengthOf(1);
      expect(statuses.filter((status) => status === 409)).to.have.lengthOf(99);
      const list = await server.call('GET', `${PATH}?identifier=${body['identifier']}`);
      expect(list.body.total_size).to.equal(1);
    });
  });
});
