import { expect } from 'chai';
import { openStore } from '../../../db/open-store.ts';
import { addressOf } from '../../../scripts/postgres/cluster.ts';
import { createDatabase, dropDatabase, isAvailable, socketOfTests, urlOf } from '../../support/postgres/databases.ts';
import { type Pooler, startPooler } from '../../support/postgres/pgbouncer.ts';
import { failure, NOW } from '../support.ts';

describe('PgBouncer in transaction mode, without support for prepared statements', () => {
  if (!isAvailable()) return;
  let pooler: Pooler;
  let name: string;

  before(async () => {
    pooler = await startPooler(socketOfTests());
    name = createDatabase();
  });
  after(async () => {
    await pooler.stop();
    dropDatabase(name);
  });

  it('is refused at the start, because it confuses the statements of its clients', async () => {
    const error = await failure(openStore({ location: addressOf(pooler.socket, name), now: () => NOW }));
    expect(error).to.include({ name: 'StorageError', code: 'STORE_REFUSED' });
    expect(error.message).to.include('DATABASE_PREPARE=off');
  });

  it('works with DATABASE_PREPARE=off, and the server itself works without it', async () => {
    for (const [location, prepare] of [
      [addressOf(pooler.socket, name), false],
      [urlOf(name), undefined],
    ] as const) {
      const store = await openStore({ location, now: () => NOW, connections: { prepare } });
      const found = await store.write((tx) => tx.instances.list());
      expect(found).to.deep.equal([]);
      await store.close();
    }
  });
});
