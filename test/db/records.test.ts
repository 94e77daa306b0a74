import { expect } from 'chai';
import type { PlanVersions } from '../../db/store.ts';
import {
  account,
  addEnvironment,
  customProvider,
  digest,
  failure,
  github,
  NOW,
  openTestStore,
  PIECE,
  type TestStore,
  tool,
} from './support.ts';

describe('custom providers', () => {
  let test: TestStore;

  beforeEach(async () => {
    test = await openTestStore();
  });

  afterEach(() => test.end());

  const provider = (identifier: string) => ({
    id: test.newId('prv'),
    identifier,
    definition: { displayName: 'Mine', metadata: { key: 'value' }, authPatterns: [{ type: 'API_KEY' }] },
    isMcp: false,
    createdAt: NOW,
    updatedAt: NOW,
  });

  it('are stored, changed by version, listed and removed', async () => {
    const row = provider('mine');
    await test.store.write((tx) => tx.customProviders.insert(test.env, row));
    const read = test.store.read.customProviders;
    expect(await read.get(test.env, 'mine')).to.deep.equal({ ...row, version: 1 });
    const changes = { definition: { displayName: 'Yours' }, isMcp: true, updatedAt: NOW + 1 };
    const update = () => test.store.write((tx) => tx.customProviders.update(test.env, 'mine', 1, changes));
    expect(await Promise.all([update(), update()])).to.deep.equal([true, false]);
    expect(await read.get(test.env, 'mine')).to.deep.include({ ...changes, version: 2 });
    await test.store.write((tx) => tx.customProviders.insert(test.env, provider('later')));
    expect((await read.list(test.env)).map(({ identifier }) => identifier)).to.deep.equal(['later', 'mine']);
    const size = JSON.stringify(provider('later').definition).length + JSON.stringify(changes.definition).length;
    expect(await read.totals(test.env)).to.deep.equal({ count: 2, size });
    expect(await test.store.write((tx) => tx.customProviders.delete(test.env, 'mine'))).to.equal(true);
    expect(await read.get(test.env, 'mine')).to.equal(undefined);
  });

  it('have a unique identifier', async () => {
    await test.store.write((tx) => tx.customProviders.insert(test.env, provider('mine')));
    const error = await failure(test.store.write((tx) => tx.customProviders.insert(test.env, provider('mine'))));
    expect(error.constraint).to.equal('custom_providers_identifier');
  });
});

describe('executions', () => {
  let test: TestStore;

  beforeEach(async () => {
    test = await openTestStore();
  });

  afterEach(() => test.end());

  const start = async (over = {}) => {
    const row = {
      id: test.newId('exec'),
      accountId: 'ca_1',
      connector: 'github',
      toolName: 'github_list_repos',
      agentRunId: null,
      apiClientId: 'cli_1',
      instance: 0,
      startedAt: NOW,
      ...over,
    };
    await test.store.write((tx) => tx.executions.insert(test.env, row));
    return row;
  };

  describe('with a plan made before', () => {
    async function plan() {
      const row = account(test.newId, await github(test));
      await test.store.write(async (tx) => {
        await tx.accounts.insert(test.env, row);
        await tx.customProviders.insert(test.env, customProvider('mine'));
        await tx.environmentTools.upsert(test.env, [tool('mine_get_thing')]);
      });
      const stored = await test.store.read.environmentTools.get(test.env, 'mine_get_thing');
      const execution = {
        id: test.newId('exec'),
        accountId: row.id,
        connector: 'github',
        toolName: 'mine_get_thing',
        agentRunId: 'run_1',
        apiClientId: 'cli_1',
        instance: 7,
        startedAt: NOW,
      };
      const builtIn = { provider: null, providerVersion: null, ownTool: null, contentHash: null };
      const versions = { accountVersion: 1, connectionId: row.connectionId, connectionVersion: 1, ...builtIn };
      const own = {
        provider: 'mine',
        providerVersion: 1,
        ownTool: 'mine_get_thing',
        contentHash: stored?.contentHash ?? '',
      };
      const insert = (over: Partial<PlanVersions> = {}, env = test.env) =>
        test.store.write((tx) => tx.executions.insertPlanned(env, execution, { ...versions, ...over }));
      const read = () => test.store.read.executions.get(test.env, execution.id);
      return { execution, own, insert, read };
    }

    it('are recorded like others', async () => {
      const { execution, insert, read } = await plan();
      expect(await insert()).to.equal(true);
      const row = await read();
      expect(row).to.deep.equal({
        ...execution,
        environmentId: test.env,
        seq: row?.seq,
        status: 'STARTED',
        errorKind: null,
        upstreamStatus: null,
        finishedAt: null,
        steps: null,
      });
      const { total } = await test.store.read.executions.list(test.env, {}, { size: 1 });
      expect(total).to.equal(1);
      const next = await start();
      expect((await test.store.read.executions.get(test.env, next.id))?.seq).to.be.greaterThan(row?.seq ?? 0);
    });

    it('are recorded with a custom provider and a tool of the environment', async () => {
      const { own, insert } = await plan();
      expect(await insert(own)).to.equal(true);
    });

    it('are not recorded when the account, the connection, the provider or the tool has changed', async () => {
      const { own, insert, read } = await plan();
      const outdated: Partial<PlanVersions>[] = [
        { accountVersion: 2 },
        { connectionVersion: 2 },
        { connectionId: 'conn_other' },
        { providerVersion: 2 },
        { provider: 'other' },
        { contentHash: 'other' },
        { ownTool: 'other' },
      ];
      for (const each of outdated) expect(await insert({ ...own, ...each }), JSON.stringify(each)).to.equal(false);
      const other = await addEnvironment(test.store, test.newId, 'other.example');
      expect(await insert(own, other), 'another environment').to.equal(false);
      await test.store.write((tx) =>
        tx.environmentTools.upsert(test.env, [tool('mine_get_thing', { flagged: 'look' })]),
      );
      expect(await insert(own), 'a flagged tool').to.equal(false);
      expect(await read()).to.equal(undefined);
      expect(await insert(), 'a control').to.equal(true);
    });
  });

  it('are recorded as started, and end once', async () => {
    const row = await start({ agentRunId: 'run_1' });
    const read = () => test.store.read.executions.get(test.env, row.id);
    const begun = await read();
    expect(begun).to.deep.include({
      ...row,
      status: 'STARTED',
      finishedAt: null,
      errorKind: null,
      upstreamStatus: null,
    });
    const outcome = {
      status: 'FAILED' as const,
      errorKind: 'upstream_timeout',
      upstreamStatus: 504,
      finishedAt: NOW + 5,
    };
    const finish = () => test.store.write((tx) => tx.executions.finish(test.env, row.id, outcome));
    expect(await Promise.all([finish(), finish()])).to.deep.equal([true, false]);
    expect(await read()).to.deep.include(outcome);
  });

  it('are listed newest first by every filter, with exact totals', async () => {
    const [one, two, three] = [
      await start({ agentRunId: 'run_1' }),
      await start({ agentRunId: 'run_1', accountId: 'ca_2', toolName: 'slack_post' }),
      await start({ accountId: 'ca_2', connector: 'slack' }),
    ];
    await test.store.write((tx) => tx.executions.finish(test.env, one.id, { status: 'SUCCEEDED', finishedAt: NOW }));
    const ids = async (filters: object) => {
      const page = await test.store.read.executions.list(test.env, filters, { size: 10 });
      expect(page.total).to.equal(page.rows.length);
      return page.rows.map(({ id }) => id);
    };
    expect(await ids({})).to.deep.equal([three.id, two.id, one.id]);
    expect(await ids({ agentRunId: 'run_1' })).to.deep.equal([two.id, one.id]);
    expect(await ids({ accountId: 'ca_2' })).to.deep.equal([three.id, two.id]);
    expect(await ids({ accountId: 'ca_2', agentRunId: 'run_1' })).to.deep.equal([two.id]);
    expect(await ids({ connector: 'slack' })).to.deep.equal([three.id]);
    expect(await ids({ toolName: 'slack_post' })).to.deep.equal([two.id]);
    expect(await ids({ status: 'STARTED' })).to.deep.equal([three.id, two.id]);
    const next = await test.store.read.executions.list(test.env, {}, { size: 1, after: three.id });
    expect(next.rows.map(({ id }) => id)).to.deep.equal([two.id]);
  });

  it('end as unknown when the process that sent them has ended', async () => {
    const [instance, gone] = [await test.register('here'), await test.register('gone')];
    const [old, done, young] = [
      await start({ instance: gone }),
      await start({ instance: gone }),
      await start({ instance }),
    ];
    await test.store.write((tx) => tx.instances.remove(gone));
    await test.store.write((tx) => tx.executions.finish(test.env, done.id, { status: 'SUCCEEDED', finishedAt: NOW }));
    expect(await test.store.write((tx) => tx.executions.markAbandoned(test.env, NOW + 20))).to.equal(1);
    const status = async (id: string) => (await test.store.read.executions.get(test.env, id))?.status;
    expect(await Promise.all([old, done, young].map(({ id }) => status(id)))).to.deep.equal([
      'UNKNOWN',
      'SUCCEEDED',
      'STARTED',
    ]);
  });
});

describe('idempotency keys', () => {
  let test: TestStore;

  beforeEach(async () => {
    test = await openTestStore();
  });

  afterEach(() => test.end());

  const name = { clientId: 'cli_1', route: 'executeTool', keyDigest: digest('key') };
  const key = { ...name, requestDigest: digest('body'), instance: 0, createdAt: NOW, expiresAt: NOW + 1000 };
  const claim = (over = {}) => test.store.write((tx) => tx.idempotencyKeys.claim(test.env, { ...key, ...over }));
  const read = () => test.store.read.idempotencyKeys.get(test.env, name);

  it('belong to the first of many concurrent requests (C13)', async () => {
    const claims = await Promise.all(Array.from({ length: 20 }, () => claim()));
    expect(claims.map(({ state }) => state)).to.deep.equal(['NEW', ...Array(19).fill('EXISTING')]);
    expect(claims[1]).to.deep.include({
      row: { ...key, state: 'RUNNING', status: null, sealedReply: null, executionId: null },
    });
  });

  it('are separate by client, operation and key', async () => {
    await claim();
    for (const other of [{ clientId: 'cli_2' }, { route: 'createConnectedAccount' }, { keyDigest: digest('other') }]) {
      expect((await claim(other)).state).to.equal('NEW');
    }
  });

  it('keep the response', async () => {
    await claim({ executionId: 'exec_1' });
    const reply = { status: 200, sealedReply: Buffer.from('sealed') };
    expect(await test.store.write((tx) => tx.idempotencyKeys.complete(test.env, name, reply))).to.equal(true);
    expect(await test.store.write((tx) => tx.idempotencyKeys.complete(test.env, name, reply))).to.equal(false);
    expect(await test.store.write((tx) => tx.idempotencyKeys.release(test.env, name))).to.equal(false);
    expect(await read()).to.deep.include({ ...reply, state: 'DONE', executionId: 'exec_1' });
  });

  it('keep the response that the claiming unit stores', async () => {
    const reply = { status: 201, sealedReply: Buffer.from('sealed') };
    await test.store.write(async (tx) => {
      await tx.idempotencyKeys.claim(test.env, key);
      await tx.idempotencyKeys.completeClaimed(test.env, key, reply);
    });
    expect((await claim()).state).to.equal('EXISTING');
    expect(await read()).to.deep.include({
      ...reply,
      state: 'DONE',
      executionId: null,
      requestDigest: key.requestDigest,
    });
    const kept = await test.store.read.idempotencyKeys.keptBytes(test.env, name.clientId);
    expect(kept).to.equal(256 + reply.sealedReply.length);
  });

  it('can be claimed again after a release, and after their expiry', async () => {
    await claim();
    expect(await test.store.write((tx) => tx.idempotencyKeys.release(test.env, name))).to.equal(true);
    expect((await claim()).state).to.equal('NEW');
    expect((await claim({ createdAt: NOW + 999 })).state).to.equal('EXISTING');
    expect((await claim({ createdAt: NOW + 1000, expiresAt: NOW + 2000 })).state).to.equal('NEW');
    expect(await test.store.write((tx) => tx.idempotencyKeys.sweep(test.env, NOW + 1999, PIECE))).to.equal(0);
    expect(await test.store.write((tx) => tx.idempotencyKeys.sweep(test.env, NOW + 2000, PIECE))).to.equal(1);
    expect(await read()).to.equal(undefined);
  });

  it('are released after a crash only if nothing had been sent', async () => {
    const gone = await test.register('gone');
    await claim({ instance: gone });
    const sent = { ...name, keyDigest: digest('sent') };
    await claim({ ...sent, instance: gone, executionId: 'exec_1' });
    expect(await test.store.write((tx) => tx.idempotencyKeys.releaseAbandoned(test.env))).to.equal(0);
    await test.store.write((tx) => tx.instances.remove(gone));
    expect(await test.store.write((tx) => tx.idempotencyKeys.releaseAbandoned(test.env))).to.equal(1);
    expect(await read()).to.equal(undefined);
    expect(await test.store.read.idempotencyKeys.get(test.env, sent)).to.deep.include({ executionId: 'exec_1' });
  });
});
