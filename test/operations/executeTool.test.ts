import { expect } from 'chai';
import { createAccount, unknownId } from '../support/accounts.ts';
import { createKeyedAccount, KEYED_ORIGIN } from '../support/keyed-api.ts';
import { API_KEY_PATTERN, createConnection, createProvider } from '../support/providers.ts';
import { addSecondEnvironment } from '../support/second-environment.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';
import type { Upstream } from '../support/upstream.ts';
import { json, startUpstream } from '../support/upstream.ts';

const PATH = '/api/v1/execute_tool';

/** Tests the format of requests and responses; test/flows tests what the operation does. */
describe('executeTool', () => {
  let acme: Upstream;
  let server: TestServer;
  let id: string;

  const run = (body: Record<string, unknown>) =>
    server.call('POST', PATH, {
      body: { connected_account_id: id, tool_name: 'http_get', tool_input: { path: '/' }, ...body },
    });

  before(async () => {
    acme = await startUpstream((_request, res) => json(res, 200, { hello: 'world' }));
    server = await startTestServer({ env: { VALETKEY_ENDPOINT_OVERRIDES: acme.endpointOverride(KEYED_ORIGIN) } });
    ({ id } = await createKeyedAccount(server));
  });
  after(async () => {
    await server.stop();
    await acme.stop();
  });

  describe('200', () => {
    it('returns data and execution id, and omits fields that do not apply', async () => {
      const answer = await run({});
      expect(answer.status, answer.text).to.equal(200);
      expect(answer.body).to.deep.equal({ data: { hello: 'world' }, execution_id: answer.body.execution_id });
      expect(answer.body.execution_id).to.match(/^exec_[0-9a-hjkmnp-tv-z]{26}$/);
      expect(answer.headers['cache-control']).to.equal('no-store');
    });

    it('treats an absent input as an empty one', async () => {
      const { id: github } = await createAccount(server);
      const body = { connected_account_id: github, tool_name: 'github_get_authenticated_user', dry_run: true };
      const answer = await server.call('POST', PATH, { body });
      expect(answer.status, answer.text).to.equal(200);
    });

    it('accepts a run id of 255 characters', async () => {
      expect((await run({ agent_run_id: 'r'.repeat(255) })).status).to.equal(200);
    });
  });

  describe('400', () => {
    for (const [what, body, field] of [
      ['no tool', { tool_name: undefined }, 'tool_name'],
      ['an input that is no object', { tool_input: 'path=/' }, 'tool_input'],
      ['a list as input', { tool_input: [] }, 'tool_input'],
      ['a run id of 256 characters', { agent_run_id: 'r'.repeat(256) }, 'agent_run_id'],
      ['an unknown field', { timeout: 5 }, 'timeout'],
      ['a text for dry_run', { dry_run: 'yes' }, 'dry_run'],
      ['an id of another kind', { connected_account_id: 'conn_00000000000000000000000000' }, 'connected_account_id'],
    ] as [string, Record<string, unknown>, string][]) {
      it(`VALIDATION_FAILED for ${what}`, async () => {
        const answer = await run(body);
        expect(answer.body).to.include({ status: 400, code: 'VALIDATION_FAILED' });
        expect(answer.body.errors.map((e: { field: string }) => e.field)).to.include(field);
      });
    }

    it('INCOMPLETE_ACCOUNT_KEY with each missing field', async () => {
      const answer = await run({ connected_account_id: undefined, connector: 'github' });
      expect(answer.body).to.include({ status: 400, code: 'INCOMPLETE_ACCOUNT_KEY' });
      expect(answer.body.errors.map((e: { field: string }) => e.field)).to.deep.equal([
        'identifier',
        'organization_id',
      ]);
    });

    it('AMBIGUOUS_CONNECTOR that lists the connections', async () => {
      await createConnection(server, { connector: 'notion', key_id: 'notion-1' });
      await createConnection(server, { connector: 'notion', key_id: 'notion-2' });
      const key = { connected_account_id: undefined, connector: 'notion', identifier: 'a', user_id: 'u' };
      const answer = await run(key);
      expect(answer.body).to.include({ status: 400, code: 'AMBIGUOUS_CONNECTOR' });
      expect(answer.body.detail).to.include('notion-1').and.to.include('notion-2');
    });

    it('INVALID_TOOL_INPUT with the path of each field', async () => {
      const answer = await run({ tool_input: { path: 'no-slash', query: { a: { b: 1 } }, headers: { cookie: 'x' } } });
      expect(answer.body).to.include({ status: 400, code: 'INVALID_TOOL_INPUT' });
      const fields = answer.body.errors.map((e: { field: string }) => e.field);
      expect(fields).to.include('tool_input.path').and.to.include('tool_input.query.a');
      expect(fields.some((field: string) => field.startsWith('tool_input.headers'))).to.equal(true);
    });

    it('INVALID_API_CONFIG when the account lacks a value of the address', async () => {
      const field = { field_name: 'region', label: 'Region', input_type: 'text', is_path_param: true };
      const provider = await createProvider(server, {
        proxy_enabled: true,
        proxy_url: 'https://{{region}}.acme.example',
        auth_patterns: [{ ...API_KEY_PATTERN, account_fields: [field] }],
      });
      const account = await createAccount(server, {
        connector: provider.identifier,
        connectedAccount: { authorization_details: { static_auth: { details: { api_key: 'key-0000' } } } },
      });
      const answer = await run({ connected_account_id: account.id });
      expect(answer.body).to.include({ status: 400, code: 'INVALID_API_CONFIG' });
      expect(answer.body.errors[0].field).to.equal('connected_account.api_config.region');
    });
  });

  it('403: a tool that the connection does not allow', async () => {
    const { id: restricted, account } = await createKeyedAccount(server);
    const body = { allowed_tools: ['http_post'] };
    await server.call('PUT', `/api/v1/connections/${account['connection_id']}`, { body });
    const answer = await run({ connected_account_id: restricted });
    expect(answer.body).to.include({ status: 403, code: 'TOOL_NOT_ALLOWED' });
  });

  describe('404', () => {
    it('for an unknown id, and an unknown tool', async () => {
      expect((await run({ connected_account_id: unknownId('ca') })).body.code).to.equal('NOT_FOUND');
      expect((await run({ tool_name: 'http_fly' })).body.code).to.equal('NOT_FOUND');
    });

    it('for an account of another environment, as for an unknown one (C1)', async () => {
      const other = await addSecondEnvironment(server);
      const request = (account: string) =>
        other.call('POST', PATH, {
          headers: { 'x-request-id': 'same' },
          body: { connected_account_id: account, tool_name: 'http_get', tool_input: { path: '/' } },
        });
      const [foreign, unknown] = [await request(id), await request(unknownId('ca'))];
      expect(foreign.status).to.equal(404);
      expect(foreign.text).to.equal(unknown.text);
    });
  });

  it('409: an account that is not active', async () => {
    const { id: pending } = await createAccount(server, { connector: 'slack', connectedAccount: {} });
    const answer = await run({ connected_account_id: pending, tool_name: 'slack_list_users', tool_input: {} });
    expect(answer.body).to.include({ status: 409, code: 'ACCOUNT_NOT_ACTIVE' });
    expect(answer.body.next_action).to.have.all.keys('type', 'operation_id', 'message');
  });
});
