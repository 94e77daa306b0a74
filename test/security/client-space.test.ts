import { expect } from 'chai';
import { STORED } from '../../core/budgets.ts';
import { ensureFirstClient } from '../../core/keys/first-start.ts';
import { Secret } from '../../core/secret.ts';
import type { EnvironmentId } from '../../db/store.ts';
import { digest, oauthClient } from '../db/support.ts';
import { auditOf } from '../support/audit.ts';
import { MCP_CONFIGS_PATH } from '../support/mcp-configs.ts';
import { createConnection } from '../support/providers.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { requestToken } from '../support/token-request.ts';
import { firstEnvironment } from '../support/tokens.ts';

const CLIENTS = '/api/v1/api_clients';

/**
 * The number of clients and MCP configs is limited, because lists count the clients of an environment, and deleting a
 * connection or a tool reads all MCP configs.
 */
describe('F6: an environment at its limit of clients and MCP configs', () => {
  let server: TestServer;
  let env: EnvironmentId;

  before(async () => {
    server = await startTestServer();
    ({ id: env } = await firstEnvironment(server));
  });
  after(() => server.stop());

  const create = (name: string) => server.call('POST', CLIENTS, { body: { name, scopes: ['tools:read'] } });
  const disable = (id: string) => server.call('POST', `${CLIENTS}/${id}:disable`);
  const totals = () => server.parts.store.read.apiClients.totals(env);

  /** Stores API clients. @returns their ids */
  async function addClients(count: number): Promise<string[]> {
    const { store, newId, now } = server.parts;
    const ids = Array.from({ length: count }, () => newId('cli'));
    const secret = { digest: digest('secret'), prefix: 'vks_xxxx', createdAt: now() };
    await store.write(async (tx) => {
      for (const id of ids) {
        const client = { id, name: 'Filler', scopes: ['tools:read' as const], createdAt: now() };
        await tx.apiClients.insert(env, client, { ...secret, id: newId('sec') });
      }
    });
    return ids;
  }

  /** Disables clients at a later time than all clients that the API has disabled. */
  const disableLater = (ids: string[]) =>
    server.parts.store.write(async (tx) => {
      for (const id of ids) await tx.apiClients.disable(env, id, server.parts.now() + 60_000);
    });

  it('accepts no further API client until one is disabled', async () => {
    const { enabled } = await totals();
    const fillers = await addClients(STORED.apiClients - enabled - 1);
    const last = await create('Last');
    expect(last.status, last.text).to.equal(201);
    const refused = await create('One more');
    expect(refused.body).to.include({ status: 400, code: 'VALIDATION_FAILED' });
    expect(refused.body.detail).to.include('at most 5000 that are enabled');
    const rotated = await server.call('POST', `${CLIENTS}/${fillers[0]}:rotate_secret`, { body: {} });
    expect(rotated.status, rotated.text).to.equal(200);
    expect((await disable(fillers[0] as string)).status).to.equal(200);
    expect((await create('One more')).status).to.equal(201);
    await disableLater(fillers);
  });

  it('keeps a limited number of disabled API clients, and one that was removed stays unusable', async () => {
    const { store, now, digester, newId, random } = server.parts;
    const first = (await create('Disabled early')).body;
    const id = first.api_client.id as string;
    await disable(id);
    const { disabled } = await totals();
    await disableLater(await addClients(STORED.disabledApiClients - disabled));
    for (let further = 0; further < 2; further++) {
      const { api_client: client } = (await create('Further')).body;
      expect((await disable(client.id)).status).to.equal(200);
    }
    expect((await totals()).disabled).to.equal(STORED.disabledApiClients);
    expect(await store.read.apiClients.get(env, id, now())).to.equal(undefined);
    const { rows } = await store.read.audit.list(env, { size: 2 }, { action: 'api_client.disabled' });
    expect(rows.map(({ details }) => details['removed_client'])).to.include(id);
    expect((await auditOf(server, id)).map(({ action }) => action)).to.include('api_client.disabled');

    // A start of the server with the id and secret of this client must not enable the client again.
    const secret = new Secret(first.client_secret);
    const environment = await firstEnvironment(server);
    await ensureFirstClient(store, { digester, newId, random, now } as never, environment, { id, secret });
    const answer = await requestToken(server, { client_id: id, client_secret: first.client_secret });
    expect(answer.status, answer.text).to.equal(401);
  });

  it('accepts no further MCP client from an operator, while clients can register themselves', async () => {
    const { store, newId } = server.parts;
    const ids = Array.from({ length: STORED.mcpClients }, () => newId('ocl'));
    await store.write(async (tx) => {
      for (const id of ids)
        await tx.oauthClients.insert(env, oauthClient(id, { kind: 'REGISTERED', originDigest: null }));
    });
    const body = { name: 'One more', redirect_uris: ['http://127.0.0.1/callback'] };
    const refused = await server.call('POST', '/api/v1/mcp/clients', { body });
    expect(refused.body).to.include({ status: 400, code: 'VALIDATION_FAILED' });
    expect(refused.body.detail).to.include('at most 5000 that administrators have created');
    expect((await server.call('DELETE', `/api/v1/mcp/clients/${ids[0]}`)).status).to.equal(200);
    expect((await server.call('POST', '/api/v1/mcp/clients', { body })).status).to.equal(201);
  });

  it('accepts no further MCP config, and no larger one', async () => {
    const { store, newId, now } = server.parts;
    const { id: connectionId } = await createConnection(server, { connector: 'github' });
    const config = (tools: string[] | null) => ({ mappings: [{ connection_id: connectionId, tools }] });
    const own = (name: string, tools: string[] | null = null) =>
      server.call('POST', MCP_CONFIGS_PATH, { body: { name, ...config(tools) } });
    const created = await own('Own');
    expect(created.status, created.text).to.equal(201);
    const row = { description: '', createdAt: now(), updatedAt: now() };
    const add = (count: number, tools: string[] | null) =>
      store.write(async (tx) => {
        for (let number = 0; number < count; number++) {
          const id = newId('mcp');
          await tx.mcpConfigs.insert(env, { ...row, id, name: id, mappings: [{ connectionId, tools }] });
        }
      });
    // Uses almost all of the space.
    const { size } = await store.read.mcpConfigs.totals(env);
    await add(4, ['x'.repeat(STORED.mcpConfigsBytes / 4 - 120 - size)]);
    const path = `${MCP_CONFIGS_PATH}/${created.body.config.id}`;
    const names = ['github_get_user', 'github_list_issues', 'github_get_repository', 'github_create_issue'];
    const large = { mappings: Array.from({ length: 1 }, () => ({ connection_id: connectionId, tools: names })) };
    const grown = await server.call('PUT', path, { body: large });
    const left = STORED.mcpConfigsBytes - (await store.read.mcpConfigs.totals(env)).size;
    expect([grown.status, left > 0], grown.text).to.deep.equal([200, true]);
    await add(1, ['x'.repeat(left)]);
    expect((await own('Too large')).body.detail).to.include('reached its limit for MCP configs');
    expect((await server.call('PUT', path, { body: config(names.slice(1)) })).status, 'a smaller one').to.equal(200);
    expect((await server.call('PUT', path, { body: config(names) })).body).to.include({
      status: 400,
      code: 'VALIDATION_FAILED',
    });
  });
});
