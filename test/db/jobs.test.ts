import { expect } from 'chai';
import type { JobFilters, PageRequest } from '../../db/store.ts';
import { addKeyChecks, job, laneOf, NOW, openTestStore, type TestStore } from './support.ts';

describe('jobs in the database', () => {
  let test: TestStore;
  let owner: number;

  beforeEach(async () => {
    test = await openTestStore();
    owner = await test.register('inst_1');
    await addKeyChecks(test.store, 'kek_1');
    await test.store.write(async (tx) => {
      await tx.jobs.insert(test.env, job('job_1', 'ca_1', { runAt: NOW + 2 }));
      await tx.jobs.insert(test.env, job('job_2', 'ca_2', { runAt: NOW + 1 }));
      await tx.jobs.insert(test.env, job('job_3', 'ca_1', { kind: 'other', lane: 'a' }));
    });
  });
  afterEach(() => test.end());

  const claim = (now: number, limit = 10, by = owner) =>
    test.store.write((tx) => tx.jobQueue.claim({ ...laneOf(test.env), owner: by, now, limit }));
  const attempt = (id: string, attempts = 1) => ({ id, attempts, owner });
  const fail = (id: string, at = NOW) =>
    test.store.write((tx) => tx.jobQueue.fail(attempt(id), { at, reason: 'Refused.' }));

  it('are claimed when they are due, the longest overdue first', async () => {
    expect(await claim(NOW)).to.deep.equal([]);
    expect((await claim(NOW + 2, 1)).map(({ id }) => id)).to.deep.equal(['job_2']);
    const [second, ...others] = await claim(NOW + 2);
    expect(second).to.include({ id: 'job_1', state: 'RUNNING', attempts: 1, owner });
    expect(others).to.deep.equal([]);
  });

  it('are claimed by one of two instances that ask concurrently', async () => {
    const other = await test.register('inst_2');
    const claims = await Promise.all([claim(NOW + 2), claim(NOW + 2, 10, other)]);
    expect(claims.map((rows) => rows.length).sort()).to.deep.equal([0, 2]);
  });

  it('are tried again later, and lose their payload when they succeed', async () => {
    const { store, env } = test;
    await claim(NOW + 2);
    const next = { runAt: NOW + 100, reason: 'The provider was too slow.', at: NOW + 3 };
    expect(await store.write((tx) => tx.jobQueue.again(attempt('job_1'), next))).to.equal(true);
    expect(await claim(NOW + 99)).to.deep.equal([]);
    expect(await claim(NOW + 100)).to.have.lengthOf(1);
    const done = { at: NOW + 101, result: 'REVOKED' };
    expect(await store.write((tx) => tx.jobQueue.done(attempt('job_1', 2), done))).to.equal(true);
    const end = { state: 'DONE', attempts: 2, result: 'REVOKED', reason: null, kekId: null, payloadSealed: null };
    expect(await store.read.jobs.get(env, 'job_1')).to.include({ ...end, updatedAt: NOW + 101, owner: null });
  });

  it('accept only the outcome of the current attempt', async () => {
    const { store } = test;
    await claim(NOW + 2);
    const again = { runAt: NOW, reason: 'Later.', at: NOW };
    for (const stale of [attempt('job_1', 2), { ...attempt('job_1'), owner: owner + 1 }, attempt('job_3')]) {
      expect(await store.write((tx) => tx.jobQueue.done(stale, { at: NOW }))).to.equal(false);
      expect(await store.write((tx) => tx.jobQueue.fail(stale, { at: NOW }))).to.equal(false);
      expect(await store.write((tx) => tx.jobQueue.again(stale, again))).to.equal(false);
    }
    expect(await fail('job_1')).to.equal(true);
    expect(await fail('job_1')).to.equal(false);
  });

  it('keep their payload when they fail, and can run again with it', async () => {
    const { store, env } = test;
    const times = { runAt: NOW + 9, giveUpAt: NOW + 99, at: NOW + 9 };
    const retry = () => store.write((tx) => tx.jobs.retry(env, 'job_1', times));
    expect(await retry()).to.equal(undefined);
    await claim(NOW + 2);
    expect(await retry()).to.equal(undefined);
    await fail('job_1');
    expect(await retry()).to.include({ state: 'WAITING', attempts: 0, reason: 'Refused.', runAt: NOW + 9 });
    const [again] = await claim(NOW + 9);
    expect(again?.payloadSealed?.toString()).to.equal('payload');
  });

  it('cannot run again without their payload', async () => {
    const { store, env } = test;
    await claim(NOW + 2);
    await fail('job_1', NOW + 10);
    expect(await store.write((tx) => tx.jobs.wipe(env, NOW + 10, 9))).to.equal(0);
    expect(await store.write((tx) => tx.jobs.wipe(env, NOW + 11, 9))).to.equal(1);
    const { kekId: _kek, payloadSealed: _payload, runAt: _runAt, ...about } = job('job_4', 'ca_4');
    await store.write((tx) => tx.jobs.insertFailed(env, { ...about, reason: 'Not readable.' }));
    for (const id of ['job_1', 'job_4']) {
      const times = { runAt: NOW, giveUpAt: NOW, at: NOW };
      expect(await store.write((tx) => tx.jobs.retry(env, id, times)), id).to.equal(undefined);
    }
  });

  it('are found if their instance has ended', async () => {
    const { store } = test;
    await claim(NOW + 2);
    expect(await store.read.jobQueue.abandoned(9)).to.deep.equal([]);
    await store.write((tx) => tx.instances.remove(owner));
    expect((await store.read.jobQueue.abandoned(9)).map(({ id }) => id)).to.have.members(['job_1', 'job_2']);
  });

  it('are found by the instance that has taken them, until they end', async () => {
    const { store } = test;
    expect(await store.read.jobQueue.owned(owner)).to.deep.equal([]);
    await claim(NOW + 2);
    expect((await store.read.jobQueue.owned(owner)).map(({ id }) => id)).to.have.members(['job_1', 'job_2']);
    expect(await store.read.jobQueue.owned(owner + 1)).to.deep.equal([]);
    await fail('job_1', NOW + 10);
    expect((await store.read.jobQueue.owned(owner)).map(({ id }) => id)).to.deep.equal(['job_2']);
  });

  it('are listed lane by lane, each with its first time', async () => {
    const { store, env } = test;
    await store.write(async (tx) => {
      for (const [id, lane] of [
        ['job_5', 'zoho'],
        ['job_6', 'asana'],
        ['job_7', 'zoho'],
      ] as const) {
        await tx.jobs.insert(env, job(id, 'ca_1', { lane, runAt: NOW + Number(id.slice(4)) }));
      }
    });
    const lanes = [];
    let lane = await store.read.jobQueue.nextLane('revocation', undefined);
    for (; lane; lane = await store.read.jobQueue.nextLane('revocation', lane))
      lanes.push([lane.lane, lane.runAt - NOW]);
    expect(lanes).to.deep.equal([
      ['asana', 6],
      ['github', 1],
      ['zoho', 5],
    ]);
  });

  it('are counted by kind and state, up to a bound', async () => {
    const { tally } = test.store.read.jobQueue;
    expect(await tally('revocation', 'WAITING', 9)).to.deep.equal({ total: 2, firstRunAt: NOW + 1 });
    expect(await tally('revocation', 'WAITING', 1)).to.deep.equal({ total: 1, firstRunAt: NOW + 1 });
    expect(await tally('revocation', 'FAILED', 9)).to.deep.equal({ total: 0, firstRunAt: null });
    await claim(NOW + 1);
    expect((await tally('revocation', 'RUNNING', 9)).total).to.equal(1);
  });

  it('are listed by kind, subject, state and result, the newest first', async () => {
    const { store, env } = test;
    await claim(NOW + 2);
    await fail('job_2');
    await store.write((tx) => tx.jobQueue.done(attempt('job_1'), { at: NOW, result: 'NOT_REVOCABLE', reason: 'No.' }));
    await store.write((tx) => tx.jobs.insert(env, job('job_5', 'ca_1')));
    const ids = async (filters: JobFilters) =>
      (await store.read.jobs.page(env, { kind: 'revocation', ...filters }, { size: 10 })).rows.map(({ id }) => id);
    expect(await ids({})).to.deep.equal(['job_5', 'job_2', 'job_1']);
    expect(await ids({ subjectId: 'ca_1' })).to.deep.equal(['job_5', 'job_1']);
    expect(await ids({ subjectId: 'ca_1', isPending: true })).to.deep.equal(['job_5']);
    expect(await ids({ result: 'NOT_REVOCABLE' })).to.deep.equal(['job_1']);
    expect(await ids({ state: 'FAILED' })).to.deep.equal(['job_2']);
    const open = async (filters: JobFilters) =>
      (await store.read.jobs.pageOpen(env, filters, { size: 10 })).rows.map(({ id }) => id);
    expect(await open({})).to.deep.equal(['job_5', 'job_3', 'job_2']);
    expect(await open({ kind: 'other' })).to.deep.equal(['job_3']);
    expect(await open({ state: 'WAITING' })).to.deep.equal(['job_5', 'job_3']);
  });

  it('are paged in both directions', async () => {
    const { store, env } = test;
    const read = (page: PageRequest) => store.read.jobs.pageOpen(env, {}, page);
    expect(await read({ size: 2 })).to.deep.include({ hasNext: true, hasPrevious: false, total: 3 });
    const next = await read({ size: 2, after: 'job_2' });
    expect(next.rows.map(({ id }) => id)).to.deep.equal(['job_1']);
    expect(next).to.include({ hasNext: false, hasPrevious: true });
    expect((await read({ size: 2, before: 'job_1' })).rows.map(({ id }) => id)).to.deep.equal(['job_3', 'job_2']);
  });

  it('are removed some time after they ended, but not earlier', async () => {
    const { store, env } = test;
    await claim(NOW + 1);
    await fail('job_2', NOW + 10);
    expect(await store.write((tx) => tx.jobs.purge(env, NOW + 10, 9))).to.equal(0);
    expect(await store.write((tx) => tx.jobs.purge(env, NOW + 1e9, 9))).to.equal(1);
    expect(await store.read.jobs.get(env, 'job_1')).to.include({ state: 'WAITING' });
  });
});

describe('periodic jobs in the database', () => {
  let test: TestStore;
  let [one, two] = [0, 0];

  beforeEach(async () => {
    test = await openTestStore();
    [one, two] = [await test.register('inst_1'), await test.register('inst_2')];
    await test.store.write((tx) => tx.periodicJobs.add('sweep', NOW));
  });
  afterEach(() => test.end());

  const take = (holder: number, now: number) =>
    test.store.write((tx) => tx.periodicJobs.take('sweep', holder, now, now + 100));
  const nextAt = async () => (await test.store.read.periodicJobs.list())[0]?.nextAt;

  it('are held by one instance at a time, and keep the time of the next run', async () => {
    expect(await take(one, NOW - 1)).to.equal(false);
    expect(await Promise.all([take(one, NOW), take(two, NOW)])).to.deep.equal([true, false]);
    expect(await take(two, NOW + 100)).to.equal(false);
    await test.store.write((tx) => tx.periodicJobs.release('sweep', two));
    expect(await take(two, NOW + 100)).to.equal(false);
    await test.store.write((tx) => tx.periodicJobs.release('sweep', one));
    expect(await take(two, NOW + 99)).to.equal(false);
    expect(await take(two, NOW + 100)).to.equal(true);
  });

  it('are taken over from an instance that has ended', async () => {
    await take(one, NOW);
    await test.store.write((tx) => tx.instances.remove(one));
    expect(await take(two, NOW + 100)).to.equal(true);
  });

  it('are moved to an earlier time, never to a later one; adding them again changes nothing', async () => {
    await test.store.write((tx) => tx.periodicJobs.hasten('sweep', NOW + 50));
    expect(await nextAt()).to.equal(NOW);
    await test.store.write((tx) => tx.periodicJobs.hasten('sweep', NOW - 50));
    await test.store.write((tx) => tx.periodicJobs.add('sweep', NOW + 50));
    expect(await nextAt()).to.equal(NOW - 50);
  });
});
