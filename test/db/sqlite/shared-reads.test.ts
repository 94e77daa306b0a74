import { statSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { expect } from 'chai';
import { account, github, openSharedTestStore, type TestStore } from '../support.ts';

describe('the shared reads of a turn', () => {
  let test: TestStore;
  let id: string;

  beforeEach(async () => {
    test = await openSharedTestStore();
    const row = account(test.newId, await github(test));
    await test.store.write((tx) => tx.accounts.insert(test.env, row));
    id = row.id;
  });

  afterEach(() => test.end());

  const status = async () => (await test.store.read.accounts.get(test.env, id))?.status;
  const change = { from: 'ACTIVE', to: { status: 'EXPIRED', reason: null, updatedAt: 1 } } as const;

  /** Expires a row as another process would. */
  function expireElsewhere(): void {
    const other = new Database(test.file);
    other.prepare("update accounts set status = 'EXPIRED'").run();
    other.close();
  }

  it('see one snapshot during commits of another process, and the newest one in the next turn', async () => {
    test.store.shareReads();
    expect(await status()).to.equal('ACTIVE');
    expireElsewhere();
    expect(await status()).to.equal('ACTIVE');
    await setImmediate();
    expect(await status()).to.equal('EXPIRED');
  });

  it('see a write of their own process as soon as it was awaited', async () => {
    // The unit runs some turns of the event loop later, when the shared reads below have ended.
    const written = test.store.write((tx) => tx.accounts.setStatus(test.env, id, [change.from], change.to));
    test.store.shareReads();
    expect(await status()).to.equal('ACTIVE');
    await written;
    expect(await status()).to.equal('EXPIRED');
  });

  it('do not prevent the log from being emptied', async () => {
    test.store.shareReads();
    await status();
    expect(await test.store.scrub()).to.equal(true);
    expect(statSync(`${test.file}-wal`).size).to.equal(0);
    expect(await status()).to.equal('ACTIVE');
  });

  it('see every commit immediately without sharing', async () => {
    expect(await status()).to.equal('ACTIVE');
    expireElsewhere();
    expect(await status()).to.equal('EXPIRED');
  });
});
