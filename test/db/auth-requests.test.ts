import { expect } from 'chai';
import {
  account,
  addKeyChecks,
  authFlow,
  authRequest,
  digest,
  failure,
  github,
  grant,
  job,
  NOW,
  openTestStore,
  type TestStore,
} from './support.ts';

describe('the store of authorization requests', () => {
  let test: TestStore;
  let accountId: string;

  beforeEach(async () => {
    test = await openTestStore();
    await addKeyChecks(test.store, 'kek_1', 'kek_2');
    const connectionId = await github(test);
    const row = account(test.newId, connectionId);
    accountId = row.id;
    await test.store.write(async (tx) => {
      await tx.accounts.insert(test.env, row);
      await tx.authRequests.insert(test.env, authRequest('areq_1', row.id, connectionId, { expiresAt: NOW + 10 }));
      await tx.authFlows.insert(test.env, authFlow('areq_1', connectionId));
    });
  });
  afterEach(() => test.end());

  type Unit = Parameters<TestStore['store']['write']>[0];
  const write = <T>(unit: (tx: Parameters<Unit>[0]) => Promise<T>): Promise<T> => test.store.write(unit);
  const get = () => test.store.read.authRequests.get(test.env, 'areq_1');

  it('keeps the grant from the finish to the end, and no longer', async () => {
    expect(await write((tx) => tx.authRequests.finish(test.env, 'areq_1', grant('r')))).to.equal(true);
    expect(await get()).to.include({ state: 'PENDING_VERIFICATION', kekId: 'kek_1', endedAt: null, expiresAt: NOW });
    expect(await test.store.read.authRequests.countPending(test.env, accountId)).to.equal(1);
    expect(await write((tx) => tx.authRequests.finish(test.env, 'areq_1', grant('s')))).to.equal(false);
    expect(await write((tx) => tx.authRequests.end(test.env, 'areq_1', 'CONSUMED', NOW))).to.equal(true);
    const wiped = { pendingSealed: null, wrappedDataKey: null, kekId: null };
    expect(await get()).to.include({ state: 'CONSUMED', endedAt: NOW, ...wiped });
    for (const as of ['CONSUMED', 'FAILED', 'EXPIRED'] as const) {
      expect(await write((tx) => tx.authRequests.end(test.env, 'areq_1', as, NOW))).to.equal(false);
    }
    expect(await write((tx) => tx.authRequests.countMismatch(test.env, 'areq_1'))).to.equal(false);
  });

  it('ends once, regardless of concurrent attempts', async () => {
    await write((tx) => tx.authRequests.finish(test.env, 'areq_1', grant('r')));
    const attempts = Array.from({ length: 50 }, () =>
      write((tx) => tx.authRequests.end(test.env, 'areq_1', 'CONSUMED', NOW)),
    );
    expect((await Promise.all(attempts)).filter(Boolean)).to.have.lengthOf(1);
  });

  it('extends the time of an open request, and never shortens it', async () => {
    await write((tx) => tx.authRequests.extend(test.env, 'areq_1', NOW + 5));
    expect((await get())?.expiresAt).to.equal(NOW + 10);
    await write((tx) => tx.authRequests.extend(test.env, 'areq_1', NOW + 50));
    expect((await get())?.expiresAt).to.equal(NOW + 50);
  });

  it('finds requests that have expired or were closed', async () => {
    const due = (at: number) => test.store.read.authRequests.due(test.env, at, 10);
    expect([await due(NOW + 9), (await due(NOW + 10)).length]).to.deep.equal([[], 1]);
    expect(await write((tx) => tx.authRequests.close(test.env, accountId, NOW))).to.equal(1);
    expect(await get()).to.include({ state: 'OPEN', expiresAt: NOW, linkExpiresAt: NOW });
    expect(await due(NOW)).to.have.lengthOf(1);
    await write((tx) => tx.authRequests.end(test.env, 'areq_1', 'FAILED', NOW));
    expect(await due(NOW + 1e9)).to.deep.equal([]);
    expect(await write((tx) => tx.authRequests.close(test.env, accountId, NOW))).to.equal(0);
  });

  it('removes ended requests with their flows', async () => {
    expect(await write((tx) => tx.authRequests.purge(test.env, NOW + 1e9, 9))).to.equal(0);
    await write((tx) => tx.authRequests.end(test.env, 'areq_1', 'FAILED', NOW));
    expect(await write((tx) => tx.authRequests.purge(test.env, NOW, 9))).to.equal(0);
    expect(await write((tx) => tx.authRequests.purge(test.env, NOW + 1, 9))).to.equal(1);
    expect(await test.store.read.authFlows.byState(test.env, digest('state'))).to.equal(undefined);
  });

  it('uses a flow once and before its expiry, and deletes its data', async () => {
    const spend = (at: number) => write((tx) => tx.authFlows.spend(test.env, digest('state'), at));
    expect(await spend(NOW + 1000)).to.equal(false);
    expect((await Promise.all(Array.from({ length: 50 }, () => spend(NOW)))).filter(Boolean)).to.have.lengthOf(1);
    const flow = await test.store.read.authFlows.byState(test.env, digest('state'));
    expect(flow).to.include({ spentAt: NOW, keptSealed: null });
    expect(await write((tx) => tx.authFlows.sweep(test.env, NOW + 1000, 9))).to.equal(1);
  });

  it('refuses data encrypted with a key that has no check value', async () => {
    const late = write((tx) => tx.authRequests.finish(test.env, 'areq_1', grant('r', { kekId: 'kek_3' })));
    expect((await failure(late)).name).to.equal('RelationError');
  });

  it('keeps a request when its account is deleted, because its grant has still to be revoked', async () => {
    await write((tx) => tx.authRequests.finish(test.env, 'areq_1', grant('r')));
    await write((tx) => tx.accounts.remove(test.env, accountId, NOW));
    expect(await get()).to.include({ state: 'PENDING_VERIFICATION' });
  });

  it('is part of the rotation of keys, as are jobs', async () => {
    await write((tx) => tx.authRequests.finish(test.env, 'areq_1', grant('r')));
    await write((tx) => tx.jobs.insert(test.env, job('job_1', accountId)));
    const rotation = test.store.read.keyRotation;
    expect(await rotation.countByKek('kek_1')).to.equal(2);
    const rows = await rotation.listWaiting('kek_1');
    const of = (table: string, id: string) => ({
      table,
      id,
      environmentId: test.env,
      generation: null,
      wrappedDataKey: Buffer.from('key'),
    });
    expect(rows).to.deep.equal([of('auth_requests', 'areq_1'), of('jobs', 'job_1')]);
    for (const { table, id, wrappedDataKey } of rows) {
      const by = { wrappedDataKey: Buffer.from('new'), kekId: 'kek_2' };
      const replace = () => write((tx) => tx.keyRotation.setWrappedKey(table, id, wrappedDataKey, by));
      expect(await Promise.all([replace(), replace()])).to.deep.equal([true, false]);
    }
    expect([await rotation.countByKek('kek_1'), await rotation.countByKek('kek_2')]).to.deep.equal([0, 2]);
    expect((await get())?.wrappedDataKey?.toString()).to.equal('new');
  });
});
