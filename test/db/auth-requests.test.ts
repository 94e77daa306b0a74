import { expect } from 'chai';
import type { OutboxFilters, PageRequest } from '../../db/store.ts';
import {
  account,
  addKeyChecks,
  authFlow,
  authRequest,
  digest,
  failure,
  github,
  grant,
  NOW,
  openTestStore,
  outboxEntry,
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

  it('keeps what was granted from the finish to the end, and not a byte longer', async () => {
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

  it('ends once, however many try at the same time', async () => {
    await write((tx) => tx.authRequests.finish(test.env, 'areq_1', grant('r')));
    const attempts = Array.from({ length: 50 }, () =>
      write((tx) => tx.authRequests.end(test.env, 'areq_1', 'CONSUMED', NOW)),
    );
    expect((await Promise.all(attempts)).filter(Boolean)).to.have.lengthOf(1);
  });

  it('lets an open request live longer and never shorter', async () => {
    await write((tx) => tx.authRequests.extend(test.env, 'areq_1', NOW + 5));
    expect((await get())?.expiresAt).to.equal(NOW + 10);
    await write((tx) => tx.authRequests.extend(test.env, 'areq_1', NOW + 50));
    expect((await get())?.expiresAt).to.equal(NOW + 50);
  });

  it('finds those whose time is over, by the clock or because they were closed', async () => {
    const due = (at: number) => test.store.read.authRequests.due(test.env, at, 10);
    expect([await due(NOW + 9), (await due(NOW + 10)).length]).to.deep.equal([[], 1]);
    expect(await write((tx) => tx.authRequests.close(test.env, accountId, NOW))).to.equal(1);
    expect(await get()).to.include({ state: 'OPEN', expiresAt: NOW, linkExpiresAt: NOW });
    expect(await due(NOW)).to.have.lengthOf(1);
    await write((tx) => tx.authRequests.end(test.env, 'areq_1', 'FAILED', NOW));
    expect(await due(NOW + 1e9)).to.deep.equal([]);
    expect(await write((tx) => tx.authRequests.close(test.env, accountId, NOW))).to.equal(0);
  });

  it('removes what ended, with its flows', async () => {
    expect(await write((tx) => tx.authRequests.purge(test.env, NOW + 1e9, 9))).to.equal(0);
    await write((tx) => tx.authRequests.end(test.env, 'areq_1', 'FAILED', NOW));
    expect(await write((tx) => tx.authRequests.purge(test.env, NOW, 9))).to.equal(0);
    expect(await write((tx) => tx.authRequests.purge(test.env, NOW + 1, 9))).to.equal(1);
    expect(await test.store.read.authFlows.byState(test.env, digest('state'))).to.equal(undefined);
  });

  it('lets a flow be spent once and in time, and wipes what was kept', async () => {
    const spend = (at: number) => write((tx) => tx.authFlows.spend(test.env, digest('state'), at));
    expect(await spend(NOW + 1000)).to.equal(false);
    expect((await Promise.all(Array.from({ length: 50 }, () => spend(NOW)))).filter(Boolean)).to.have.lengthOf(1);
    const flow = await test.store.read.authFlows.byState(test.env, digest('state'));
    expect(flow).to.include({ spentAt: NOW, keptSealed: null });
    expect(await write((tx) => tx.authFlows.sweep(test.env, NOW + 1000, 9))).to.equal(1);
  });

  it('refuses what is sealed under a key that has no check value', async () => {
    const late = write((tx) => tx.authRequests.finish(test.env, 'areq_1', grant('r', { kekId: 'kek_3' })));
    expect((await failure(late)).name).to.equal('RelationError');
  });

  it('stays when its account goes: what was granted has still to be revoked', async () => {
    await write((tx) => tx.authRequests.finish(test.env, 'areq_1', grant('r')));
    await write((tx) => tx.accounts.remove(test.env, accountId, NOW));
    expect(await get()).to.include({ state: 'PENDING_VERIFICATION' });
  });

  it('is part of the rotation of keys, and so is the outbox', async () => {
    await write((tx) => tx.authRequests.finish(test.env, 'areq_1', grant('r')));
    await write((tx) => tx.outbox.insert(test.env, outboxEntry('out_1', accountId)));
    const rotation = test.store.read.keyRotation;
    expect(await rotation.countByKek('kek_1')).to.equal(2);
    const rows = await rotation.listWaiting('kek_1');
    const of = (table: string, id: string, sealed: string) => ({
      table,
      id,
      environmentId: test.env,
      sealed: Buffer.from(sealed),
    });
    expect(rows).to.deep.equal([of('auth_requests', 'areq_1', 'key'), of('outbox', 'out_1', 'payload')]);
    for (const row of rows) {
      const replace = () =>
        write((tx) => tx.keyRotation.setWaiting(row, { sealed: Buffer.from('new'), kekId: 'kek_2' }));
      expect(await Promise.all([replace(), replace()])).to.deep.equal([true, false]);
    }
    expect([await rotation.countByKek('kek_1'), await rotation.countByKek('kek_2')]).to.deep.equal([0, 2]);
    expect((await get())?.wrappedDataKey?.toString()).to.equal('new');
  });
});

describe('the outbox', () => {
  let test: TestStore;

  beforeEach(async () => {
    test = await openTestStore();
    await addKeyChecks(test.store, 'kek_1');
    await test.store.write(async (tx) => {
      await tx.outbox.insert(test.env, outboxEntry('out_1', 'ca_1', { nextAt: NOW + 2 }));
      await tx.outbox.insert(test.env, outboxEntry('out_2', 'ca_2', { nextAt: NOW + 1 }));
      await tx.outbox.insert(test.env, outboxEntry('out_3', 'ca_1', { kind: 'other', nextAt: NOW }));
    });
  });
  afterEach(() => test.end());

  const due = async (at: number, limit = 10) =>
    (await test.store.read.outbox.due(test.env, 'revoke', at, limit)).map(({ id }) => id);

  it('gives out what is due, the longest overdue first', async () => {
    expect(await due(NOW)).to.deep.equal([]);
    expect(await due(NOW + 1)).to.deep.equal(['out_2']);
    expect(await due(NOW + 2)).to.deep.equal(['out_2', 'out_1']);
    expect(await due(NOW + 2, 1)).to.deep.equal(['out_2']);
  });

  it('tries again later, and forgets the payload at the end', async () => {
    const { store, env } = test;
    const again = { nextAt: NOW + 100, error: 'The provider did not respond in time.', at: NOW + 1 };
    expect(await store.write((tx) => tx.outbox.retry(env, 'out_1', again))).to.equal(true);
    expect(await due(NOW + 99)).to.deep.equal(['out_2']);
    expect(await due(NOW + 100)).to.deep.equal(['out_2', 'out_1']);
    expect(await store.write((tx) => tx.outbox.done(env, 'out_1', { at: NOW + 101, result: 'REVOKED' }))).to.equal(
      true,
    );
    expect(await store.write((tx) => tx.outbox.fail(env, 'out_2', 'Given up.', NOW + 102))).to.equal(true);
    expect(await due(NOW + 1e9)).to.deep.equal([]);
    const [first, other] = await store.read.outbox.list(env, 'ca_1');
    const end = { kekId: null, payloadSealed: null };
    expect(first).to.include({
      state: 'DONE',
      attempts: 2,
      result: 'REVOKED',
      lastError: null,
      updatedAt: NOW + 101,
      ...end,
    });
    expect(other).to.include({ id: 'out_3', state: 'WAITING', attempts: 0 });
    const [failed] = await store.read.outbox.list(env, 'ca_2');
    expect(failed).to.include({ state: 'FAILED', attempts: 1, lastError: 'Given up.', ...end });
    for (const end of [
      () => store.write((tx) => tx.outbox.done(env, 'out_1', { at: NOW })),
      () => store.write((tx) => tx.outbox.fail(env, 'out_1', 'again', NOW)),
      () => store.write((tx) => tx.outbox.retry(env, 'out_1', again)),
    ]) {
      expect(await end()).to.equal(false);
    }
  });

  it('gives an entry to one of those who saw it due', async () => {
    const { store, env } = test;
    const claim = (seenAt: number) => store.write((tx) => tx.outbox.claim(env, 'out_1', seenAt, NOW + 50));
    const claims = await Promise.all([claim(NOW + 2), claim(NOW + 2)]);
    expect(claims.map((entry) => entry?.payloadSealed?.toString())).to.deep.equal(['payload', undefined]);
    expect(await due(NOW + 49)).to.deep.equal(['out_2']);
    expect(await due(NOW + 50)).to.deep.equal(['out_2', 'out_1']);
    await store.write((tx) => tx.outbox.fail(env, 'out_1', 'Given up.', NOW + 60));
    expect(await claim(NOW + 50)).to.equal(undefined);
  });

  it('holds what could not be begun as failed, with nothing sealed', async () => {
    const { store, env } = test;
    const { kekId: _kek, payloadSealed: _payload, ...about } = outboxEntry('out_4', 'ca_4');
    await store.write((tx) => tx.outbox.insertFailed(env, { ...about, provider: 'acme', error: 'Not readable.' }));
    const [failed] = await store.read.outbox.list(env, 'ca_4');
    expect(failed).to.include({ state: 'FAILED', provider: 'acme', payloadSealed: null, lastError: 'Not readable.' });
    expect(await due(NOW + 1e9)).not.to.include('out_4');
  });

  it('lists one kind by subject, state and result, the newest first', async () => {
    const { store, env } = test;
    await store.write(async (tx) => {
      await tx.outbox.insert(env, outboxEntry('out_5', 'ca_1'));
      await tx.outbox.done(env, 'out_5', { at: NOW, result: 'NOT_REVOCABLE', error: 'No way.' });
      await tx.outbox.fail(env, 'out_2', 'Given up.', NOW);
    });
    const ids = async (filters: Omit<OutboxFilters, 'kind'>) =>
      (await store.read.outbox.page(env, { kind: 'revoke', ...filters }, { size: 10 })).rows.map(({ id }) => id);
    expect(await ids({})).to.deep.equal(['out_5', 'out_2', 'out_1']);
    expect(await ids({ subjectId: 'ca_1' })).to.deep.equal(['out_5', 'out_1']);
    expect(await ids({ subjectId: 'ca_1', state: 'WAITING' })).to.deep.equal(['out_1']);
    expect(await ids({ result: 'NOT_REVOCABLE' })).to.deep.equal(['out_5']);
    expect(await ids({ state: 'FAILED' })).to.deep.equal(['out_2']);
  });

  it('is walked in both directions', async () => {
    const { store, env } = test;
    await store.write((tx) => tx.outbox.insert(env, outboxEntry('out_5', 'ca_1')));
    const read = (page: PageRequest) => store.read.outbox.page(env, { kind: 'revoke' }, page);
    const first = await read({ size: 2 });
    expect(first).to.deep.include({ hasNext: true, hasPrevious: false, total: 3 });
    const next = await read({ size: 2, after: 'out_2' });
    expect(next.rows.map(({ id }) => id)).to.deep.equal(['out_1']);
    expect(next).to.include({ hasNext: false, hasPrevious: true });
    const back = await read({ size: 2, before: 'out_1' });
    expect(back.rows.map(({ id }) => id)).to.deep.equal(['out_5', 'out_2']);
  });

  it('forgets what ended before a time, and nothing that waits', async () => {
    const { store, env } = test;
    await store.write((tx) => tx.outbox.fail(env, 'out_2', 'Given up.', NOW + 10));
    expect(await store.write((tx) => tx.outbox.purge(env, NOW + 10, 9))).to.equal(0);
    expect(await store.write((tx) => tx.outbox.purge(env, NOW + 1e9, 9))).to.equal(1);
    expect(await due(NOW + 1e9)).to.deep.equal(['out_1']);
  });
});
