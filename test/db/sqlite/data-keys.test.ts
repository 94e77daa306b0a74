import { readFileSync } from 'node:fs';
import Database from 'better-sqlite3';
import { expect } from 'chai';
import { Random } from '../../fuzz/random.ts';
import { amount } from '../../support/amount.ts';
import { account, addKeyChecks, github, NOW, openSharedTestStore, type TestStore } from '../support.ts';

/**
 * More rounds find more copies of deleted data in the file. After 10,000 rounds, the control table, from which rows are
 * deleted, had left copies of 17 of 7,700 deleted rows. The table of data keys, whose slots are overwritten, had left
 * no copy of a deleted key.
 */
const ROUNDS = amount(process.env['DATA_KEY_ROUNDS'], 1200);
const CHECK_EVERY = 100;

/** Unique bytes for each data key, which identify it. */
function markedBytes(mark: string, size: number): Buffer {
  const bytes = Buffer.alloc(size, '.');
  bytes.write(mark, 'latin1');
  return bytes;
}

describe('slots of data keys', () => {
  let test: TestStore;

  beforeEach(async () => {
    test = await openSharedTestStore();
    await addKeyChecks(test.store, 'kek_1');
  });

  afterEach(() => test.end());

  it('never move, so that a deleted key is nowhere in the file, while rows that move leave copies', async () => {
    const random = new Random(7);
    const db = new Database(test.file);
    for (const pragma of ['synchronous = off', 'secure_delete = on', 'temp_store = memory']) db.pragma(pragma);
    db.exec('create table moving (id text primary key not null, body blob not null) strict');
    const reuse = db.prepare(
      'update data_keys set used = 1, wrapped = ? where slot = (select slot from data_keys where used = 0 limit 1) returning slot',
    );
    const add = db.prepare('insert into data_keys (used, wrapped) values (1, ?) returning slot');
    const wipe = db.prepare('update data_keys set used = 0, wrapped = zeroblob(128) where slot = ?');
    const insert = db.prepare('insert into moving (id, body) values (?, ?)');
    const change = db.prepare('update moving set body = ? where id = ?');
    const remove = db.prepare('delete from moving where id = ?');
    const live = new Map<string, { slot: number; id: string }>();
    const copies = { slots: new Set<string>(), rows: new Set<string>() };
    let made = 0;
    let deleted = 0;
    const bodyOf = (number: string) => markedBytes(`<R${number}>`, 100 + random.below(1400));

    function create(): void {
      const number = String(++made).padStart(6, '0');
      const key = markedBytes(`<S${number}>`, 128);
      const { slot } = (reuse.get(key) ?? add.get(key)) as { slot: number };
      const id = `${random.next()}`;
      insert.run(id, bodyOf(number));
      live.set(number, { slot, id });
    }

    function look(): void {
      db.pragma('wal_checkpoint(truncate)');
      for (const [, kind, number] of readFileSync(test.file, 'latin1').matchAll(/<([SR])(\d{6})>/g)) {
        if (!live.has(number as string)) copies[kind === 'S' ? 'slots' : 'rows'].add(number as string);
      }
    }

    for (let round = 1; round <= ROUNDS; round++) {
      db.transaction(() => {
        for (let left = 1 + random.below(4); left > 0; left--) {
          const number = random.pick([...live.keys()]);
          const { slot, id } = live.get(number) ?? { slot: 0, id: '' };
          if (live.size < 50 || random.chance(0.51)) create();
          else if (random.chance(0.3)) change.run(bodyOf(number), id);
          else {
            wipe.run(slot);
            remove.run(id);
            live.delete(number);
            deleted++;
          }
        }
      })();
      if (round % CHECK_EVERY === 0) look();
    }
    expect(deleted).to.be.greaterThan(ROUNDS / 2);
    expect(db.prepare('select count(*) from data_keys').pluck().get()).to.be.lessThan(made);
    db.close();
    expect(copies.rows.size, 'the control: copies of deleted rows of an ordinary table').to.be.greaterThan(0);
    expect([...copies.slots]).to.deep.equal([]);
  });

  it('are overwritten in place, and reused', async () => {
    const connectionId = await github(test);
    const insert = async (key: string) => {
      const row = account(test.newId, connectionId, { wrappedDataKey: Buffer.from(key), kekId: 'kek_1' });
      await test.store.write((tx) => tx.accounts.insert(test.env, row));
      return row.id;
    };
    const slots = () => test.database.dump()['data_keys'] as { slot: number; used: number; wrapped: Buffer }[];
    const [first] = [await insert('one'), await insert('two')];
    await test.store.write((tx) => tx.accounts.remove(test.env, first, NOW));
    expect(slots().map(({ slot, used }) => [slot, used])).to.deep.equal([
      [1, 0],
      [2, 1],
    ]);
    expect(slots()[0]?.wrapped.equals(Buffer.alloc(128))).to.equal(true);
    await insert('three');
    await insert('four');
    expect(slots().map(({ used, wrapped }) => [used, wrapped.toString('latin1', 1, 4)])).to.deep.equal([
      [1, 'thr'],
      [1, 'two'],
      [1, 'fou'],
    ]);
  });

  it('can be neither deleted nor moved', async () => {
    const row = account(test.newId, await github(test), { wrappedDataKey: Buffer.from('one'), kekId: 'kek_1' });
    await test.store.write((tx) => tx.accounts.insert(test.env, row));
    for (const statement of ['delete from data_keys', 'update data_keys set slot = 9']) {
      expect(() => test.database.run(statement)).to.throw(/data key/);
    }
  });
});
