import { expect } from 'chai';
import { endLost, registerSoleInstance } from '../../../core/instances/instance.ts';
import { newestMigration } from '../../../db/sqlite/migrate.ts';
import { account, addKeyChecks, digest, github, NOW, openTestStore, type TestStore } from '../../db/support.ts';

describe('registering an instance', () => {
  let test: TestStore;

  beforeEach(async () => {
    test = await openTestStore();
  });
  afterEach(() => test.end());

  const register = (now = NOW) =>
    registerSoleInstance({
      store: test.store,
      now: () => now,
      newId: test.newId,
      version: '1.2.3',
      keyIds: () => ['kek_1'],
    });
  const key = {
    clientId: 'cli_1',
    route: 'executeTool',
    requestDigest: digest('body'),
    createdAt: NOW,
    expiresAt: NOW + 1e6,
  };

  it('records the start time of an instance, and never assigns a number twice', async () => {
    const first = await register();
    expect(await test.store.read.instances.list()).to.deep.equal([
      {
        id: first.id,
        number: first.number,
        version: '1.2.3',
        startedAt: NOW,
        beatAt: NOW,
        schemaNumber: newestMigration(),
        keys: ['kek_1'],
      },
    ]);
    await test.store.write((tx) => tx.instances.beat(first.number, NOW + 5000, ['kek_2', 'kek_1']));
    const [beaten] = await test.store.read.instances.list();
    expect(beaten).to.deep.include({ beatAt: NOW + 5000, keys: ['kek_2', 'kek_1'] });
    await test.store.write((tx) => tx.instances.remove(first.number));
    expect((await register()).number).to.be.greaterThan(first.number);
  });

  it('F9: releases the leases of a previous instance immediately, regardless of their expiry', async () => {
    await addKeyChecks(test.store, 'kek_1');
    const row = account(test.newId, await github(test), { identifier: 'octocat' });
    const dead = await register();
    await test.store.write(async (tx) => {
      await tx.accounts.insert(test.env, row);
      await tx.refreshLeases.take(test.env, row.id, {
        owner: dead.id,
        generation: 1,
        expiresAt: NOW + 30_000,
        after: 0,
      });
    });
    const alive = await register(NOW + 1);
    expect(await test.store.read.refreshLeases.get(test.env, row.id)).to.include({ state: 'HELD', expiresAt: 0 });
    const taken = { owner: alive.id, generation: 1, expiresAt: NOW + 60_000, after: 1 };
    await test.store.write((tx) => tx.refreshLeases.take(test.env, row.id, taken));
    await test.store.write((tx) => tx.refreshLeases.endAbandoned(test.env));
    expect((await test.store.read.refreshLeases.get(test.env, row.id))?.expiresAt).to.equal(NOW + 60_000);
  });

  it('ends its running executions, and releases idempotency keys whose request had not started one', async () => {
    const dead = await register();
    const execution = { accountId: 'ca_1', connector: 'github', toolName: 't', agentRunId: null, apiClientId: 'cli_1' };
    const keyDigest = digest('begun');
    await test.store.write(async (tx) => {
      const about = { ...execution, instance: dead.number, startedAt: NOW + 1e6 };
      await tx.executions.insert(test.env, { ...about, id: 'exec_1' });
      await tx.idempotencyKeys.claim(test.env, { ...key, instance: dead.number, keyDigest: digest('not begun') });
      await tx.idempotencyKeys.claim(test.env, { ...key, instance: dead.number, keyDigest, executionId: 'exec_1' });
    });
    await register(NOW + 2);
    const { read } = test.store;
    expect(await read.executions.get(test.env, 'exec_1')).to.include({ status: 'UNKNOWN', finishedAt: NOW + 2 });
    expect(await read.idempotencyKeys.get(test.env, { ...key, keyDigest: digest('not begun') })).to.equal(undefined);
    expect(await read.idempotencyKeys.get(test.env, { ...key, keyDigest })).to.include({ executionId: 'exec_1' });
  });

  it('ends its own executions whose end was lost, and no other ones', async () => {
    const [own, other] = [await register(), await register()];
    const execution = { accountId: 'ca_1', connector: 'github', toolName: 't', agentRunId: null, apiClientId: 'cli_1' };
    await test.store.write(async (tx) => {
      for (const [id, instance] of [
        ['exec_lost', own.number],
        ['exec_running', own.number],
        ['exec_other', other.number],
      ] as const)
        await tx.executions.insert(test.env, { ...execution, id, instance, startedAt: NOW });
    });
    const statusOf = async (id: string) => (await test.store.read.executions.get(test.env, id))?.status;
    const deps = { store: test.store, now: () => NOW + 5 };
    await own.executions.during('exec_running', async () => {
      expect(await endLost(own, deps)).to.deep.equal({ executions: 1, keys: 0 });
      expect(await statusOf('exec_running')).to.equal('STARTED');
    });
    expect(await statusOf('exec_lost')).to.equal('UNKNOWN');
    expect(await statusOf('exec_other')).to.equal('STARTED');
    const later = { executions: 1, keys: 0 };
    expect(await endLost(own, deps), 'the one that has stopped running since').to.deep.equal(later);
  });

  it('counts no execution as lost that ended while the unfinished ones were read', async () => {
    const own = await register();
    const execution = { accountId: 'ca_1', connector: 'github', toolName: 't', agentRunId: null, apiClientId: 'cli_1' };
    const about = { ...execution, id: 'exec_ending', instance: own.number, startedAt: NOW };
    await test.store.write((tx) => tx.executions.insert(test.env, about));
    const { read } = test.store;
    const instances = {
      ...read.instances,
      async unfinished(number: number) {
        const found = await read.instances.unfinished(number);
        const end = { status: 'SUCCEEDED' as const, finishedAt: NOW + 1 };
        await test.store.write((tx) => tx.executions.finish(test.env, about.id, end));
        return found;
      },
    };
    const store = { ...test.store, read: { ...read, instances } };
    expect(await endLost(own, { store, now: () => NOW + 5 })).to.deep.equal({ executions: 0, keys: 0 });
    expect(await read.executions.get(test.env, about.id)).to.include({ status: 'SUCCEEDED' });
  });

  it('disowns its idempotency keys whose request has ended without a response, and no other ones', async () => {
    const [own, other] = [await register(), await register()];
    const keyOf = (name: string) => ({ ...key, keyDigest: digest(name) });
    await test.store.write(async (tx) => {
      for (const [name, instance] of [
        ['lost', own.number],
        ['running', own.number],
        ['other', other.number],
      ] as const)
        await tx.idempotencyKeys.claim(test.env, { ...keyOf(name), instance, executionId: `exec_${name}` });
    });
    const deps = { store: test.store, now: () => NOW + 5 };
    const instanceOf = async (name: string) =>
      (await test.store.read.idempotencyKeys.get(test.env, keyOf(name)))?.instance;
    await own.executions.during('exec_running', async () => {
      expect(await endLost(own, deps)).to.deep.equal({ executions: 0, keys: 1 });
      expect(await endLost(own, deps), 'again').to.deep.equal({ executions: 0, keys: 0 });
    });
    expect(await instanceOf('running')).to.equal(own.number);
    expect(await instanceOf('other')).to.equal(other.number);
    expect(await test.store.read.instances.isRegistered((await instanceOf('lost')) ?? own.number)).to.equal(false);
  });
});
