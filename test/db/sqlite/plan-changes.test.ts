import Database from 'better-sqlite3';
import { expect } from 'chai';
import {
  account,
  customProvider,
  github,
  NOW,
  openSharedTestStore,
  type TestStore,
  tool,
  toolOverlay,
} from '../support.ts';

describe('the number of changes to what calls are planned with', () => {
  let test: TestStore;
  let connectionId: string;
  let accountId: string;

  beforeEach(async () => {
    test = await openSharedTestStore();
    connectionId = await github(test);
    const row = account(test.newId, connectionId);
    accountId = row.id;
    await test.store.write(async (tx) => {
      await tx.accounts.insert(test.env, row);
      await tx.customProviders.insert(test.env, customProvider('mine'));
      await tx.environmentTools.upsert(test.env, [tool('mine_get_thing')]);
    });
  });
  afterEach(() => test.end());

  type Unit = Parameters<typeof test.store.write>[0];
  const disconnected = { status: 'DISCONNECTED' as const, reason: null, updatedAt: NOW };
  const disconnect: Unit = (tx) => tx.accounts.setStatus(test.env, accountId, ['ACTIVE'], disconnected);
  const isChanged = async (unit: Unit) => {
    const before = test.store.planChanges();
    await test.store.write(unit);
    return test.store.planChanges() !== before;
  };

  it('differs after each change to an account, a connection, a provider or a tool of the environment', async () => {
    const provider = { definition: { a: 1 }, isMcp: false, updatedAt: NOW };
    const changes: Unit[] = [
      disconnect,
      (tx) => tx.accounts.update(test.env, accountId, 2, { updatedAt: NOW }),
      (tx) => tx.accounts.setStatusByProvider(test.env, 'github', { ...disconnected, status: 'PENDING_AUTH' }),
      (tx) => tx.connections.setStatus(test.env, connectionId, 'DRAFT', NOW),
      (tx) => tx.connections.update(test.env, connectionId, 2, { enabled: false, updatedAt: NOW }),
      (tx) => tx.customProviders.update(test.env, 'mine', 1, provider),
      (tx) => tx.environmentTools.upsert(test.env, [tool('mine_get_thing', { flagged: 'look' })]),
      (tx) => tx.accounts.remove(test.env, accountId, NOW),
      (tx) => tx.connections.delete(test.env, connectionId),
      (tx) => tx.customProviders.delete(test.env, 'mine'),
    ];
    for (const change of changes) expect(await isChanged(change), String(change)).to.equal(true);
  });

  it('stays the same after other writes, also those to the time of use of an account', async () => {
    const writes: Unit[] = [
      (tx) => tx.accounts.touch(test.env, [{ id: accountId, lastUsedAt: NOW }]),
      (tx) => tx.accounts.insert(test.env, account(test.newId, connectionId, { identifier: 'another' })),
      (tx) => tx.toolOverlays.set(test.env, toolOverlay('github_get_issue')),
    ];
    for (const write of writes) expect(await isChanged(write), String(write)).to.equal(false);
  });

  it('differs again after the commit, because reads saw the rows as they were until then', async () => {
    let during: number | null = null;
    let status: string | undefined;
    await test.store.write(async (tx) => {
      await disconnect(tx);
      await tx.yieldToEventLoop();
      during = test.store.planChanges();
      status = (await test.store.read.accounts.get(test.env, accountId))?.status;
    });
    expect(status, 'a read during the unit').to.equal('ACTIVE');
    expect(test.store.planChanges()).to.not.equal(during);
  });

  it('differs within the next unit after another process has committed', async () => {
    const before = test.store.planChanges();
    const unchanged = await test.store.write(async () => test.store.planChanges());
    expect(unchanged, 'a control').to.equal(before);
    const other = new Database(test.file);
    other.prepare(`update accounts set status = 'DISCONNECTED', version = version + 1 where id = ?`).run(accountId);
    other.close();
    expect(await test.store.write(async () => test.store.planChanges())).to.not.equal(before);
  });

  it('decides whether the start of a planned call compares versions', async () => {
    const asOf = test.store.planChanges();
    const execution = { connector: 'github', toolName: 'github_get_issue', agentRunId: null, apiClientId: 'cli_1' };
    const insert = (accountVersion: number) => {
      const row = { ...execution, id: test.newId('exec'), accountId, instance: 7, startedAt: NOW };
      const builtIn = { provider: null, providerVersion: null, ownTool: null, contentHash: null };
      const versions = { accountVersion, connectionId, connectionVersion: 1, ...builtIn, asOf };
      return test.store.write((tx) => tx.executions.insertPlanned(test.env, row, versions));
    };
    // The account never had this version. The insert succeeds all the same, which shows that the version is not read.
    expect(await insert(99)).to.equal(true);
    await test.store.write((tx) => tx.connections.setStatus(test.env, connectionId, 'COMPLETED', NOW));
    expect(await insert(1), 'the connection has changed').to.equal(false);
  });

  it('differs for a unit that follows the change within one transaction', async () => {
    const asOf = test.store.planChanges();
    const [, seen] = await Promise.all([
      test.store.write(disconnect),
      test.store.write(async () => test.store.planChanges()),
    ]);
    expect(seen).to.not.equal(asOf);
  });
});
