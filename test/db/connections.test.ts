import { expect } from 'chai';
import {
  account,
  addConnection,
  addEnvironment,
  addKeyChecks,
  connection,
  failure,
  github,
  NOW,
  openTestStore,
  type TestStore,
} from './support.ts';

describe('connections', () => {
  let test: TestStore;

  beforeEach(async () => {
    test = await openTestStore();
    await addKeyChecks(test.store, 'kek_1');
  });

  afterEach(() => test.end());

  const read = () => test.store.read.connections;

  it('are returned as they were stored, by id and by key', async () => {
    const row = connection(test.newId, {
      keyId: 'full',
      organizationId: 'org_1',
      organizationName: 'One',
      domains: ['one.org'],
      clientId: 'client',
      wrappedDataKey: Buffer.from('key'),
      kekId: 'kek_1',
      clientSecretSealed: Buffer.from('sealed'),
      clientGeneration: 3,
      clientBinding: {
        method: 'client_secret_basic',
        audience: null,
        within: ['https://as.example'],
        base: null,
        allowed: ['https://as.example'],
        registered: true,
        pinned: { byAccount: [], byProvider: ['https://as.example'] },
      },
      scopes: ['repo'],
      allowedTools: ['github_list_repos'],
      allowedAddresses: ['https://as.example'],
      mcpTimeoutSeconds: 90,
      postUserVerifyRedirectUrl: 'https://app.example/done',
      settings: { sendTraceContext: true },
      enabled: false,
    });
    await addConnection(test.store, test.env, row);
    const expected = { ...row, environmentId: test.env, version: 1 };
    expect(await read().get(test.env, row.id)).to.deep.equal(expected);
    expect(await read().byKeyId(test.env, 'full')).to.deep.equal(expected);
  });

  it('have a unique key within the environment', async () => {
    const error = await failure(addConnection(test.store, test.env, connection(test.newId)));
    expect([error.name, error.constraint]).to.deep.equal(['UniqueError', 'connections_key_id']);
    const other = await addEnvironment(test.store, test.newId, 'other.example');
    await addConnection(test.store, other, connection(test.newId));
  });

  it('are listed by any combination of filters', async () => {
    const rows = [
      connection(test.newId, { keyId: 'a', providerKey: 'gmail', organizationId: 'org_1' }),
      connection(test.newId, { keyId: 'b', providerKey: 'gmail', status: 'DRAFT' }),
      connection(test.newId, { keyId: 'c', providerKey: 'slack', type: 'API_KEY', enabled: false }),
    ];
    for (const row of rows) await addConnection(test.store, test.env, row);
    const keys = async (filters: object) => (await read().listAll(test.env, filters)).map(({ keyId }) => keyId);
    expect(await keys({})).to.deep.equal(['c', 'b', 'a', 'github']);
    expect(await keys({ organizationId: 'org_1' })).to.deep.equal(['a']);
    expect(await keys({ providerKeys: ['gmail', 'slack'] })).to.deep.equal(['c', 'b', 'a']);
    expect(await keys({ providerKeys: [] })).to.deep.equal([]);
    expect(await keys({ providerKeys: ['gmail'], status: 'COMPLETED' })).to.deep.equal(['a']);
    expect(await keys({ types: ['API_KEY'], enabled: false })).to.deep.equal(['c']);
    expect(await keys({ enabled: true })).to.deep.equal(['b', 'a', 'github']);
    const { count, size } = await read().totals(test.env);
    expect(count).to.equal(4);
    expect(size).to.be.at.least(1);
    expect((await read().listByProvider(test.env, 'gmail')).map(({ keyId }) => keyId)).to.deep.equal(['b', 'a']);
  });

  it('change only from the version that the writer has read', async () => {
    const id = await github(test);
    const update = (version: number) =>
      test.store.write((tx) =>
        tx.connections.update(test.env, id, version, {
          allowedTools: [],
          clientSecretSealed: null,
          updatedAt: NOW + 1,
        }),
      );
    expect(await Promise.all([update(1), update(1)])).to.deep.equal([true, false]);
    expect(await read().get(test.env, id)).to.deep.include({ allowedTools: [], version: 2, updatedAt: NOW + 1 });
    expect(await test.store.write((tx) => tx.connections.setStatus(test.env, id, 'DRAFT', NOW + 2))).to.equal(true);
    expect(await read().get(test.env, id)).to.include({ status: 'DRAFT', version: 3 });
  });

  it('cannot be removed while they have accounts, and can afterwards', async () => {
    const id = await github(test);
    const row = account(test.newId, id);
    await test.store.write((tx) => tx.accounts.insert(test.env, row));
    expect(await read().countAccounts(test.env, id)).to.equal(1);
    const remove = () => test.store.write((tx) => tx.connections.delete(test.env, id));
    expect((await failure(remove())).name).to.equal('RelationError');
    await test.store.write((tx) => tx.accounts.remove(test.env, row.id, NOW));
    expect(await remove()).to.equal(true);
    expect(await remove()).to.equal(false);
  });
});
