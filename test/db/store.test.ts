import { expect } from 'chai';
import {
  account,
  connection,
  failure,
  github,
  manyTools,
  NOW,
  openTestStore,
  type TestStore,
  totalOfAccounts,
} from './support.ts';

describe('the store', () => {
  let test: TestStore;
  let connectionId: string;

  beforeEach(async () => {
    test = await openTestStore({ connections: { writers: 8 } });
    connectionId = await github(test);
  });

  afterEach(() => test.end());

  const total = () => totalOfAccounts(test);

  it('shows readers committed data only', async () => {
    const row = account(test.newId, connectionId);
    await test.store.write(async (tx) => {
      await tx.accounts.insert(test.env, row);
      expect(await tx.accounts.get(test.env, row.id)).to.include({ id: row.id });
      let seen: { id?: string } | undefined = { id: 'not read yet' };
      void test.store.read.accounts.get(test.env, row.id).then((found) => {
        seen = found;
      });
      while (seen?.id === 'not read yet') await tx.yieldToEventLoop();
      expect(seen).to.equal(undefined);
    });
    expect(await test.store.read.accounts.get(test.env, row.id)).to.include({ id: row.id });
  });

  describe('with a transaction in many pieces', () => {
    const rows = manyTools();
    const names = () => test.store.read.environmentTools.names(test.env);

    it('shows no part of it before the end, not even to reads that share a turn, and all of it afterwards', async () => {
      const seen: string[][] = [];
      await test.store.write(async (tx) => {
        await tx.environmentTools.upsert(test.env, rows.slice(0, 599));
        await tx.yieldToEventLoop();
        test.store.shareReads();
        const before = seen.length;
        void names().then((found) => seen.push(found));
        while (seen.length === before) await tx.yieldToEventLoop();
        await tx.environmentTools.upsert(test.env, rows.slice(599));
      });
      expect(seen.flat()).to.deep.equal([]);
      expect(await names()).to.have.length(600);
    });
  });

  it('rolls back a unit that throws, with its counters and search entries, and keeps the units beside it', async () => {
    const rows = [1, 2, 3].map(() => account(test.newId, connectionId));
    const [first, second, third] = rows as [(typeof rows)[0], (typeof rows)[0], (typeof rows)[0]];
    const bad = test.store.write(async (tx) => {
      await tx.accounts.insert(test.env, second);
      throw new Error('second thoughts');
    });
    await Promise.all([
      test.store.write((tx) => tx.accounts.insert(test.env, first)),
      failure(bad),
      test.store.write((tx) => tx.accounts.insert(test.env, third)),
    ]);
    expect(await total()).to.equal(2);
    const found = await test.store.read.accounts.search(test.env, { query: 'example' }, { size: 9 });
    expect(found.rows.map((row) => row.id)).to.have.members([third.id, first.id]);
    expect(found.total).to.equal(2);
  });

  it('names the violated constraint', async () => {
    const row = account(test.newId, connectionId);
    await test.store.write((tx) => tx.accounts.insert(test.env, row));
    const twin = { ...account(test.newId, connectionId), identifier: row.identifier };
    const error = await failure(test.store.write((tx) => tx.accounts.insert(test.env, twin)));
    expect([error.name, error.constraint]).to.deep.equal(['UniqueError', 'accounts_identity']);
    expect(await total()).to.equal(1);
  });

  it('accepts exactly one of a hundred creations of the same account (C10)', async () => {
    const attempts = Array.from({ length: 100 }, () => {
      const row = account(test.newId, connectionId, { identifier: 'same' });
      return test.store
        .write((tx) => tx.accounts.insert(test.env, row))
        .then(
          () => 'created',
          (error: Error) => error.name,
        );
    });
    const outcomes = await Promise.all(attempts);
    expect(outcomes.filter((outcome) => outcome === 'created')).to.have.length(1);
    expect(outcomes.filter((outcome) => outcome === 'UniqueError')).to.have.length(99);
  });

  it('loses none of fifty updates of one row that retry on a new version (C11)', async () => {
    const row = account(test.newId, connectionId);
    await test.store.write((tx) => tx.accounts.insert(test.env, row));
    const merge = (key: string) =>
      test.store.write(async (tx) => {
        const current = await tx.accounts.get(test.env, row.id);
        if (current === undefined) throw new Error('gone');
        const apiConfig = { ...current.apiConfig, [key]: true };
        return tx.accounts.update(test.env, row.id, current.version, { apiConfig, updatedAt: NOW });
      });
    const keys = Array.from({ length: 50 }, (_, i) => `key${i}`);
    expect(await Promise.all(keys.map(merge))).to.deep.equal(keys.map(() => true));
    const after = await test.store.read.accounts.get(test.env, row.id);
    expect(after?.apiConfig).to.have.all.keys(keys);
    expect(after?.version).to.equal(51);
  });

  it('reports a connection that does not exist', async () => {
    const error = await failure(
      test.store.write((tx) => tx.accounts.insert(test.env, account(test.newId, 'conn_none'))),
    );
    expect(error.name).to.equal('RelationError');
  });

  it('is healthy while it is open, and rejects writes after it was closed', async () => {
    expect(await test.store.healthy()).to.equal(true);
    const pending = test.store.write((tx) =>
      tx.connections.insert(test.env, connection(test.newId, { keyId: 'last' })),
    );
    await test.store.close();
    await pending;
    expect(await test.store.healthy()).to.equal(false);
    expect((await failure(test.store.write(async () => 1))).code).to.equal('STORE_CLOSED');
    test.store = await test.database.open();
    expect(await test.store.read.connections.byKeyId(test.env, 'last')).to.include({ keyId: 'last' });
  });
});
