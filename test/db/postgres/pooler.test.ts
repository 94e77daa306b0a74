import { expect } from 'chai';
import { openStore } from '../../../db/open-store.ts';
import { addressOf } from '../../../scripts/postgres/cluster.ts';
import {
  createDatabase,
  directUrlOf,
  dropDatabase,
  isAvailable,
  runIn,
  socketOfTests,
} from '../../support/postgres/databases.ts';
import { type Pooler, startPooler, supportsPreparedStatements } from '../../support/postgres/pgbouncer.ts';
import { failure, NOW } from '../support.ts';

describe('PgBouncer in transaction mode, without support for prepared statements', () => {
  if (!isAvailable()) return;
  let pooler: Pooler;
  let name: string;

  before(async () => {
    pooler = await startPooler(socketOfTests(), false);
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
      [directUrlOf(name), undefined],
    ] as const) {
      const store = await openStore({ location, now: () => NOW, connections: { prepare } });
      const found = await store.write((tx) => tx.instances.list());
      expect(found).to.deep.equal([]);
      await store.close();
    }
  });

  it('keeps connections of servers during a crash of PostgreSQL, which are then opened again', async () => {
    const store = await openStore({
      location: addressOf(pooler.socket, name),
      now: () => NOW,
      connections: { prepare: false, writers: 2 },
    });
    try {
      const register = (id: string) =>
        store.write((tx) => tx.instances.register({ id, version: '1', startedAt: NOW, beatAt: NOW, keys: [] }));
      await Promise.all([register('inst_1'), register('inst_2')]);
      // Simulates a crash: it empties this table, which is unlogged. The next new connection then adds a row.
      runIn(name, 'delete from server_lives');
      await Promise.all([register('inst_3'), register('inst_4'), register('inst_5')]);
      expect((await store.read.instances.list()).length).to.equal(5);
    } finally {
      await store.close();
    }
  });
});

describe('PgBouncer 1.21 or later in transaction mode, with max_prepared_statements', () => {
  // Debian 12 has PgBouncer 1.18, which does not support prepared statements in transaction mode.
  if (!isAvailable() || !supportsPreparedStatements()) return;

  it('works with prepared statements, whose connections of PostgreSQL change', async () => {
    const pooler = await startPooler(socketOfTests());
    const name = createDatabase();
    const store = await openStore({ location: addressOf(pooler.socket, name), now: () => NOW });
    try {
      const units = Array.from({ length: 200 }, () => store.write((tx) => tx.instances.list()));
      expect(new Set((await Promise.all(units)).map((found) => found.length))).to.deep.equal(new Set([0]));
    } finally {
      await store.close();
      await pooler.stop();
      dropDatabase(name);
    }
  });
});
