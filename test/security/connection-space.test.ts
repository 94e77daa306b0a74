import { expect } from 'chai';
import { STORED } from '../../core/budgets.ts';
import { createConnection, createProvider } from '../support/providers.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { firstEnvironment } from '../support/tokens.ts';

/** Searches of tools read the connections of an environment, so their number and size are limited. */
describe('F6: an environment at its limit of connections', () => {
  let server: TestServer;

  before(async () => {
    server = await startTestServer();
  });
  after(() => server.stop());

  const create = (body: object) => server.call('POST', '/api/v1/connections', { body });
  const firstUse = (connector: string) =>
    server.call('POST', '/api/v1/connected_accounts', { body: { connector, identifier: 'ada', user_id: 'ada' } });

  /** Stores copies of a connection. @returns a function that removes them */
  async function fill(id: string, count: number, changes: object = {}): Promise<() => Promise<void>> {
    const { store, newId } = server.parts;
    const { id: environmentId } = await firstEnvironment(server);
    const row = await store.read.connections.get(environmentId, id);
    if (!row) throw new Error('there is no such connection');
    const ids = Array.from({ length: count }, () => newId('conn'));
    const { version: _version, environmentId: _environment, ...columns } = row;
    await store.write(async (tx) => {
      for (const copy of ids)
        await tx.connections.insert(environmentId, { ...columns, ...changes, id: copy, keyId: copy });
    });
    return async () =>
      void (await store.write(async (tx) => {
        for (const copy of ids) await tx.connections.delete(environmentId, copy);
      }));
  }

  it('accepts no further connection, neither from a request nor from the first use of a provider', async () => {
    const { id } = await createConnection(server, { connector: 'github' });
    const { identifier } = await createProvider(server);
    const empty = await fill(id, STORED.connections - 1);
    for (const refused of [await create({ connector: 'github', key_id: 'one-more' }), await firstUse(identifier)]) {
      expect(refused.body).to.include({ status: 400, code: 'VALIDATION_FAILED' });
      expect(refused.body.detail).to.include('reached its limit').and.include('at most 5000 connections');
    }
    const update = await server.call('PUT', `/api/v1/connections/${id}`, { body: { organization_name: 'Acme' } });
    expect(update.status, update.text).to.equal(200);
    await empty();
    expect((await firstUse(identifier)).status).to.equal(201);
  });

  it('accepts no settings beyond their size limit, also in an update, and accepts a smaller connection', async () => {
    const { id } = await createConnection(server, { connector: 'github' });
    const domains = ['a'.repeat(STORED.connectionsBytes / 4)];
    const empty = await fill(id, 3, { domains });
    const long = Array.from({ length: 60 }, (_, index) => `https://${index}.example/${'x'.repeat(2000)}`);
    const sized = (count: number) => ({ allowed_addresses: long.slice(0, count) });
    const change = (body: object) => server.call('PUT', `/api/v1/connections/${id}`, { body });
    expect((await change(sized(60))).status).to.equal(200);
    const full = await fill(id, 1, { domains: ['a'.repeat(STORED.connectionsBytes / 4 - 200_000)] });
    expect((await create({ connector: 'github', key_id: 'large', ...sized(60) })).body.code).to.equal(
      'VALIDATION_FAILED',
    );
    expect((await change(sized(40))).status, 'a smaller one').to.equal(200);
    expect(
      (await change({ ...sized(60), scopes: Array.from({ length: 150 }, (_, i) => `${i}${'s'.repeat(490)}`) })).body,
    )
      .to.include({ status: 400, code: 'VALIDATION_FAILED' })
      .and.property('detail')
      .to.include('reached its limit');
    await full();
    await empty();
  });
});
