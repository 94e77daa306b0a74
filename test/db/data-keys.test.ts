import { expect } from 'chai';
import {
  account,
  addConnection,
  addKeyChecks,
  authRequest,
  connection,
  github,
  grant,
  job,
  laneOf,
  NOW,
  openTestStore,
  PIECE,
  storedContent,
  type TestStore,
} from './support.ts';

describe('data keys', () => {
  let test: TestStore;
  let connectionId: string;
  const kekId = 'kek_1';

  beforeEach(async () => {
    test = await openTestStore();
    await addKeyChecks(test.store, kekId);
    connectionId = await github(test);
  });

  afterEach(() => test.end());

  const write: TestStore['store']['write'] = (unit) => test.store.write(unit);

  /** The keys in the slots that are in use. */
  function stored(): string[] {
    const rows = (test.database.dump()['data_keys'] ?? []) as { used: unknown; wrapped: Buffer | string }[];
    return rows
      .filter(({ used }) => String(used) === '1')
      .map(({ wrapped }) => (typeof wrapped === 'string' ? Buffer.from(wrapped.slice(2), 'hex') : wrapped))
      .map((bytes) => bytes.toString('latin1', 1, 1 + bytes.readUInt8()))
      .sort();
  }

  async function insertAccount(key: string) {
    const row = account(test.newId, connectionId, { wrappedDataKey: Buffer.from(key), kekId });
    await write((tx) => tx.accounts.insert(test.env, row));
    return row.id;
  }

  it('of an account are replaced with its credentials, and deleted with them', async () => {
    const id = await insertAccount('first');
    const update = (version: number, wrappedDataKey: Buffer | null) => {
      const kek = wrappedDataKey === null ? null : kekId;
      return write((tx) => tx.accounts.update(test.env, id, version, { wrappedDataKey, kekId: kek, updatedAt: NOW }));
    };
    expect(stored()).to.deep.equal(['first']);
    await update(1, Buffer.from('second'));
    expect(stored()).to.deep.equal(['second']);
    await update(2, null);
    expect(stored()).to.deep.equal([]);
    expect((await test.store.read.accounts.get(test.env, id))?.wrappedDataKey).to.equal(null);
  });

  it('of an account remain when another field of it changes, and when a change comes too late', async () => {
    const id = await insertAccount('first');
    const update = (version: number, changes: object) =>
      write((tx) => tx.accounts.update(test.env, id, version, { ...changes, updatedAt: NOW }));
    expect(await update(1, { status: 'EXPIRED' })).to.equal(true);
    expect(await update(1, { wrappedDataKey: Buffer.from('late') })).to.equal(false);
    expect(stored()).to.deep.equal(['first']);
    expect((await test.store.read.accounts.get(test.env, id))?.wrappedDataKey?.toString()).to.equal('first');
  });

  it('of a deleted account are deleted, with those of its contents', async () => {
    const id = await insertAccount('of the account');
    const other = await insertAccount('of another');
    await write((tx) => tx.storedContents.insert(test.env, storedContent('file_1', id)));
    expect(stored()).to.deep.equal(['of another', 'of the account', 'wrapped']);
    await write((tx) => tx.accounts.remove(test.env, id, NOW));
    expect(stored()).to.deep.equal(['of another']);
    expect((await test.store.read.accounts.get(test.env, other))?.wrappedDataKey?.toString()).to.equal('of another');
  });

  it('of a client secret are replaced with it, and deleted with its connection', async () => {
    const sealed = (key: string) => ({ wrappedDataKey: Buffer.from(key), kekId, clientSecretSealed: Buffer.from('s') });
    const row = connection(test.newId, { keyId: 'sealed', ...sealed('first') });
    await addConnection(test.store, test.env, row);
    const update = (version: number, key: string) =>
      write((tx) => tx.connections.update(test.env, row.id, version, { ...sealed(key), updatedAt: NOW }));
    expect(stored()).to.deep.equal(['first']);
    expect(await update(1, 'second')).to.equal(true);
    expect(await update(1, 'late')).to.equal(false);
    expect(stored()).to.deep.equal(['second']);
    await write((tx) => tx.connections.delete(test.env, row.id));
    expect(stored()).to.deep.equal([]);
  });

  it('of stored content are deleted when it expires', async () => {
    await write((tx) => tx.storedContents.insert(test.env, storedContent('file_1', 'ca_1')));
    expect(stored()).to.deep.equal(['wrapped']);
    await write((tx) => tx.storedContents.sweep(test.env, NOW + 1000, PIECE));
    expect(stored()).to.deep.equal([]);
  });

  it('of a grant are deleted when its link ends, and are not stored for a link that has ended', async () => {
    const id = await insertAccount('of the account');
    await write((tx) => tx.authRequests.insert(test.env, authRequest('areq_1', id, connectionId)));
    const finish = () => write((tx) => tx.authRequests.finish(test.env, 'areq_1', grant('r')));
    expect([await finish(), stored()]).to.deep.equal([true, ['key', 'of the account']]);
    expect([await finish(), stored()]).to.deep.equal([false, ['key', 'of the account']]);
    await write((tx) => tx.authRequests.end(test.env, 'areq_1', 'CONSUMED', NOW));
    expect(stored()).to.deep.equal(['of the account']);
  });

  it('of a job are deleted when the job is done, and when the payload or the job is deleted after a failure', async () => {
    const claim = { ...laneOf(test.env), owner: 7, now: NOW, limit: 9 };
    const end = { at: NOW, reason: 'no' };
    for (const id of ['job_1', 'job_2', 'job_3']) {
      const wrappedDataKey = Buffer.from(id);
      await write((tx) => tx.jobs.insert(test.env, job(id, 'ca_1', { wrappedDataKey })));
    }
    const claimed = await write((tx) => tx.jobQueue.claim(claim));
    expect(claimed.map(({ id, wrappedDataKey }) => [id, wrappedDataKey?.toString()]).sort()).to.deep.equal(
      ['job_1', 'job_2', 'job_3'].map((id) => [id, id]),
    );
    const attempt = (id: string) => ({ id, owner: 7, attempts: 1 });
    await write((tx) => tx.jobQueue.done(attempt('job_1'), end));
    expect(stored()).to.deep.equal(['job_2', 'job_3']);
    await write((tx) => tx.jobQueue.fail(attempt('job_2'), { ...end, at: NOW - 10 }));
    await write((tx) => tx.jobQueue.fail(attempt('job_3'), end));
    expect(stored()).to.deep.equal(['job_2', 'job_3']);
    await write((tx) => tx.jobs.wipe(test.env, NOW - 5, 9));
    expect(stored()).to.deep.equal(['job_3']);
    await write((tx) => tx.jobs.purge(test.env, NOW + 1, 9));
    expect(stored()).to.deep.equal([]);
  });

  it('cannot be longer than a slot', async () => {
    const long = account(test.newId, connectionId, { wrappedDataKey: Buffer.alloc(128), kekId });
    const error = await write((tx) => tx.accounts.insert(test.env, long)).catch((cause: unknown) => cause);
    expect(error).to.be.instanceOf(RangeError);
    expect(stored()).to.deep.equal([]);
  });
});
