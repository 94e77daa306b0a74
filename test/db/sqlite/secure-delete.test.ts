import { existsSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { account, addKeyChecks, digest, github, NOW, openSharedTestStore, type TestStore } from '../support.ts';

describe('replaced or removed data', () => {
  let test: TestStore;

  beforeEach(async () => {
    test = await openSharedTestStore();
    await addKeyChecks(test.store, 'kek_1');
  });

  afterEach(() => test.end());

  /** Whether the bytes are anywhere in the database file or its log. */
  const onDisk = (bytes: Buffer) =>
    ['', '-wal'].some((suffix) => existsSync(test.file + suffix) && readFileSync(test.file + suffix).includes(bytes));

  it('is removed from the files when they are scrubbed', async () => {
    const { store, env, newId } = test;
    const connectionId = await github(test);
    const marks = {
      credentials: Buffer.from('credentials-marker'),
      overflow: Buffer.from('end-of-large-credentials-marker'),
      dataKey: Buffer.from('wrapped-data-key-marker'),
      identifier: Buffer.from('forget-me-ѫѭѯ@example.com'),
      // A term of the search index. The first byte is left out, because the index stores bytes that a term shares with
      // the previous term only once.
      term: Buffer.from('ѫѭѯ').subarray(1),
      secret: digest('client secret'),
      replaced: Buffer.from('replaced-credentials-marker'),
    };
    const gone = account(newId, connectionId, {
      identifier: marks.identifier.toString(),
      // Larger than a page, so that overflow pages are freed, too.
      credentialsSealed: Buffer.concat([marks.credentials, Buffer.alloc(9000, 'c'), marks.overflow]),
      wrappedDataKey: marks.dataKey,
      kekId: 'kek_1',
    });
    const kept = account(newId, connectionId, { credentialsSealed: marks.replaced });
    const neighbours = Array.from({ length: 40 }, () => account(newId, connectionId, { userId: 'someone' }));
    await store.write(async (tx) => {
      const client = { id: 'cli_1', name: 'one', scopes: [], createdAt: NOW };
      await tx.apiClients.insert(env, client, { id: 'sec_1', digest: marks.secret, prefix: 'one', createdAt: NOW });
      for (const row of [gone, ...neighbours, kept]) await tx.accounts.insert(env, row);
    });
    expect(await store.scrub()).to.equal(true);
    for (const [name, bytes] of Object.entries(marks)) expect(onDisk(bytes), name).to.equal(true);

    await store.write(async (tx) => {
      await tx.accounts.remove(env, gone.id, NOW);
      await tx.accounts.update(env, kept.id, 1, { credentialsSealed: Buffer.from('new'), updatedAt: NOW });
      for (const name of ['two', 'three']) {
        const secret = { id: `sec_${name}`, digest: digest(name), prefix: name, createdAt: NOW };
        await tx.apiClients.rotate(env, 'cli_1', secret, { now: NOW, overlapMs: 1000 });
      }
    });
    expect(await store.scrub()).to.equal(true);
    for (const [name, bytes] of Object.entries(marks)) expect(onDisk(bytes), name).to.equal(false);
  });
});
