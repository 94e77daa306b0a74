import { expect } from 'chai';
import type { AccountStatus } from '../../db/store.ts';
import { createAccount, unknownId } from '../support/accounts.ts';
import { execute } from '../support/execute.ts';
import { createKeyedAccount, KEYED_ORIGIN } from '../support/keyed-api.ts';
import { createProvider } from '../support/providers.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';
import { firstEnvironment } from '../support/tokens.ts';
import type { Upstream } from '../support/upstream.ts';
import { startUpstream } from '../support/upstream.ts';

/**
 * Calls that must be rejected before anything is sent. The application counts connections, and a rejected call opens
 * none.
 */
describe('an execution that is refused', () => {
  let acme: Upstream;
  let other: Upstream;
  let server: TestServer;

  const get = (id: string, path = '/things') => execute(server, id, 'http_get', { path });

  before(async () => {
    acme = await startUpstream();
    other = await startUpstream();
    server = await startTestServer({
      env: {
        VALETKEY_ENDPOINT_OVERRIDES: [
          acme.endpointOverride(KEYED_ORIGIN),
          other.endpointOverride('https://api.other.example'),
        ].join(','),
      },
    });
  });
  after(async () => {
    await server.stop();
    await acme.stop();
    await other.stop();
  });

  async function refusesWithoutSending(run: () => Promise<unknown>): Promise<void> {
    const before = [acme.connections, acme.requests.length, other.connections];
    await run();
    expect([acme.connections, acme.requests.length, other.connections]).to.deep.equal(before);
  }

  it('is sent for an active account (control)', async () => {
    const { id } = await createKeyedAccount(server);
    expect((await get(id)).status).to.equal(200);
    expect(acme.requests.at(-1)?.headers['x-api-key']).to.equal('acme-key-0123456789');
  });

  describe('returns 409 for an account that is not active (E6)', () => {
    const expected: [Exclude<AccountStatus, 'ACTIVE'>, string][] = [
      ['PENDING_AUTH', 'authorize'],
      ['PENDING_VERIFICATION', 'verify'],
      ['EXPIRED', 'reauthorize'],
      ['DISCONNECTED', 'reconnect'],
    ];
    for (const [status, action] of expected) {
      it(`${status}: tells the caller to ${action}, and sends nothing`, async () => {
        const { id } = await createKeyedAccount(server);
        const environment = await firstEnvironment(server);
        await server.parts.store.write((tx) =>
          tx.accounts.setStatus(environment.id, id, ['ACTIVE'], { status, reason: 'For the test.', updatedAt: 1 }),
        );
        await refusesWithoutSending(async () => {
          for (const dry of [false, true]) {
            const answer = await execute(server, id, 'http_get', { path: '/things' }, { body: { dry_run: dry } });
            expect(answer.body).to.include({ status: 409, code: 'ACCOUNT_NOT_ACTIVE' });
            expect(answer.body.detail).to.equal('For the test.');
            expect(answer.body.next_action).to.include({ type: action });
            expect(answer.body.next_action.operation_id).to.be.a('string');
          }
        });
      });
    }

    it('names an operation of the contract as the next action', async () => {
      const { id } = await createKeyedAccount(server);
      await server.call('POST', '/api/v1/connected_accounts:disconnect', { body: { id } });
      const { next_action: action } = (await get(id)).body;
      const document = (await server.call('GET', '/openapi.json', { token: null })).body;
      const operations = Object.values(document.paths).flatMap((item) => Object.values(item as object));
      expect(operations.map((operation) => operation.operationId)).to.include(action.operation_id);
    });
  });

  it('returns 409 while the connection is disabled, and not afterwards', async () => {
    const { id, account } = await createKeyedAccount(server);
    const connection = `/api/v1/connections/${account['connection_id']}`;
    await server.call('POST', `${connection}:disable`);
    await refusesWithoutSending(async () => {
      expect((await get(id)).body).to.include({ status: 409, code: 'CONNECTION_DISABLED' });
    });
    await server.call('POST', `${connection}:enable`);
    expect((await get(id)).status).to.equal(200);
  });

  it('returns 403 for a tool that the connection does not allow', async () => {
    const { id, account } = await createKeyedAccount(server);
    const connection = `/api/v1/connections/${account['connection_id']}`;
    for (const [allowed, status] of [
      [['http_post'], 403],
      [[], 403],
      [['http_get', 'http_post'], 200],
      [null, 200],
    ] as const) {
      const set = await server.call('PUT', connection, { body: { allowed_tools: allowed } });
      expect(set.status, set.text).to.equal(200);
      const answer = await get(id);
      expect(answer.status, String(allowed)).to.equal(status);
      if (status === 403) expect(answer.body.code).to.equal('TOOL_NOT_ALLOWED');
    }
  });

  describe('returns 404', () => {
    it('for an unknown tool, a tool of another connector, and a name of the prototype', async () => {
      const { id } = await createKeyedAccount(server);
      await refusesWithoutSending(async () => {
        for (const name of ['http_fly', 'github_list_issues', 'constructor']) {
          const answer = await execute(server, id, name);
          expect(answer.body, name).to.include({ status: 404, code: 'NOT_FOUND' });
        }
      });
    });

    it('for an unknown account, or one whose other fields do not match (E9)', async () => {
      const { id, account } = await createKeyedAccount(server);
      await refusesWithoutSending(async () => {
        expect((await get(unknownId('ca'))).status).to.equal(404);
        for (const field of ['identifier', 'user_id', 'organization_id', 'connector']) {
          const answer = await execute(server, id, 'http_get', { path: '/' }, { body: { [field]: 'somebody-else' } });
          expect(answer.body, field).to.include({ status: 404, code: 'NOT_FOUND' });
        }
      });
      const { user_id, connector, identifier } = account;
      const agreeing = { body: { user_id, connector, identifier } };
      expect((await execute(server, id, 'http_get', { path: '/' }, agreeing)).status).to.equal(200);
    });
  });

  it('finds the account by its owner, connector and identifier as well', async () => {
    const { account } = await createKeyedAccount(server);
    const { user_id, connector, identifier } = account;
    const body = { user_id, connector, identifier, tool_name: 'http_get', tool_input: { path: '/' } };
    const answer = await server.call('POST', '/api/v1/execute_tool', { body });
    expect(answer.status, answer.text).to.equal(200);
    const incomplete = await server.call('POST', '/api/v1/execute_tool', { body: { ...body, user_id: undefined } });
    expect(incomplete.body).to.include({ status: 400, code: 'INCOMPLETE_ACCOUNT_KEY' });
  });

  it('returns 400 for a provider without an address', async () => {
    const { id, provider } = await createKeyedAccount(server);
    const without = { proxy_enabled: false, proxy_url: null };
    await server.call('PUT', `/api/v1/custom-providers/${provider.identifier}`, { body: without });
    const details = { static_auth: { details: { api_key: 'given-again' } } };
    const update = { id, connected_account: { authorization_details: details } };
    await server.call('PUT', '/api/v1/connected_accounts', { body: update });
    await refusesWithoutSending(async () => {
      expect((await get(id)).body).to.include({ status: 400, code: 'PROVIDER_HAS_NO_BASE_URL' });
    });
  });

  it('stores no record of a refused execution', async () => {
    const { id } = await createKeyedAccount(server);
    await execute(server, id, 'http_fly');
    await execute(server, id, 'http_get', { colour: 'red' });
    const list = await server.call('GET', `/api/v1/executions?connected_account_id=${id}`);
    expect(list.body).to.deep.include({ executions: [], total_size: 0 });
  });

  describe('after the provider has moved (P2)', () => {
    it('sends nothing to the new host until the account has credentials for it', async () => {
      const { id, provider } = await createKeyedAccount(server, { key: 'given-for-the-old-host' });
      expect((await get(id)).status).to.equal(200);
      const path = `/api/v1/custom-providers/${provider.identifier}`;
      const moved = await server.call('PUT', path, { body: { proxy_url: 'https://api.other.example' } });
      expect(moved.status, moved.text).to.equal(200);
      await refusesWithoutSending(async () => {
        const answer = await get(id);
        expect(answer.body).to.include({ status: 409, code: 'ACCOUNT_NOT_ACTIVE' });
        expect(answer.body.next_action.type).to.equal('authorize');
        await server.call('GET', `/api/v1/connected_accounts/auth?id=${id}`);
      });
      const details = { static_auth: { details: { api_key: 'given-for-the-new-host' } } };
      await server.call('PUT', '/api/v1/connected_accounts', {
        body: { id, connected_account: { authorization_details: details } },
      });
      expect((await get(id)).status).to.equal(200);
      expect(other.requests.map((request) => request.headers['x-api-key'])).to.deep.equal(['given-for-the-new-host']);
    });

    it('calls the new host for an account without credentials', async () => {
      const { id, provider } = await createOpenAccount();
      await server.call('PUT', `/api/v1/custom-providers/${provider.identifier}`, {
        body: { proxy_url: 'https://api.other.example' },
      });
      const before = other.requests.length;
      expect((await get(id)).status).to.equal(200);
      expect(other.requests).to.have.length(before + 1);
    });
  });

  it('returns 409 after the provider was deleted (P5)', async () => {
    const { id, provider } = await createKeyedAccount(server);
    await server.call('DELETE', `/api/v1/custom-providers/${provider.identifier}`);
    await refusesWithoutSending(async () => {
      const answer = await get(id);
      expect(answer.body).to.include({ status: 409, code: 'ACCOUNT_NOT_ACTIVE' });
      expect(answer.body.next_action).to.include({ type: 'reconnect', operation_id: 'createConnectedAccount' });
    });
  });

  async function createOpenAccount() {
    const provider = await createProvider(server, {
      proxy_enabled: true,
      proxy_url: KEYED_ORIGIN,
      auth_patterns: [{ type: 'NO_AUTH' }],
    });
    const { id } = await createAccount(server, { connector: provider.identifier, connectedAccount: {} });
    return { id, provider };
  }
});
