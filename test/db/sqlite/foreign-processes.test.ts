import { existsSync, readFileSync } from 'node:fs';
import Database from 'better-sqlite3';
import { expect } from 'chai';
import { openSqliteStore } from '../../../db/sqlite/store.ts';
import { account, github, NOW, openSharedTestStore, type TestStore } from '../support.ts';

describe('with another process on the same database (F1)', () => {
  let test: TestStore;
  let connectionId: string;
  let other: InstanceType<typeof Database>;

  beforeEach(async () => {
    test = await openSharedTestStore();
    connectionId = await github(test);
    await test.store.scrub();
    other = new Database(test.file, { timeout: 0 });
  });
  afterEach(async () => {
    other.close();
    await test.end();
  });

  const MARK = Buffer.from('credentials-that-were-deleted');
  const insert = async () => {
    const row = account(test.newId, connectionId, { credentialsSealed: MARK });
    await test.store.write((tx) => tx.accounts.insert(test.env, row));
    return row.id;
  };
  const onDisk = () =>
    ['', '-wal'].some((suffix) => existsSync(test.file + suffix) && readFileSync(test.file + suffix).includes(MARK));
  const turnsUntil = async (done: Promise<unknown>, atMost = Number.POSITIVE_INFINITY): Promise<number> => {
    let isDone = false;
    let turns = 0;
    const settle = () => {
      isDone = true;
    };
    done.then(settle, settle);
    while (!isDone && turns < atMost) {
      await new Promise(setImmediate);
      turns++;
    }
    return turns;
  };

  const readElsewhere = () => {
    other.exec('begin');
    other.prepare('select count(*) from accounts').get();
  };
  const writeElsewhere = () => other.exec('begin immediate');
  const NONE = () => {};
  const CASES: [string, () => void, () => void][] = [
    ['that has been reading since before the deletion', readElsewhere, NONE],
    ['that reads after the deletion', NONE, readElsewhere],
    ['that writes', NONE, writeElsewhere],
  ];
  for (const [which, before, after] of CASES) {
    it(`waits for no process ${which} to remove deleted data, and removes it after its end`, async () => {
      const id = await insert();
      before();
      await test.store.write((tx) => tx.accounts.remove(test.env, id, NOW));
      after();
      expect(await test.store.scrub()).to.equal(false);
      expect(onDisk()).to.equal(true);
      other.exec('rollback');
      expect(await test.store.scrub()).to.equal(true);
      expect(onDisk()).to.equal(false);
    });
  }

  it('writes wait for its lock without blocking the event loop, and run when it is released', async () => {
    writeElsewhere();
    const written = insert();
    expect(await turnsUntil(written, 50), 'turns while the lock was held').to.equal(50);
    expect((await test.store.read.accounts.list(test.env, {}, { size: 1 })).total, 'reads go on').to.equal(0);
    other.exec('commit');
    await written;
    expect((await test.store.read.accounts.list(test.env, {}, { size: 1 })).total).to.equal(1);
  });

  it('a store opens after the other process has ended its write', async () => {
    writeElsewhere();
    const opening = openSqliteStore({ path: test.file, now: () => NOW });
    expect(await turnsUntil(opening, 50), 'turns while the lock was held').to.be.greaterThan(0);
    other.exec('commit');
    const store = await opening;
    expect(await store.healthy()).to.equal(true);
    await store.close();
  });

  it('a store closes without waiting for a reader', async () => {
    readElsewhere();
    await insert();
    await test.store.close();
    expect(existsSync(`${test.file}-wal`)).to.equal(true);
  });
});
