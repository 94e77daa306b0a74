import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { RetryableError, StorageError } from '../../../db/errors.ts';
import { openScope } from '../../../db/scope.ts';
import { createGroupCommit, type GroupBounds, type TransactionControl } from '../../../db/sqlite/group-commit.ts';
import { failure } from '../support.ts';

interface Tx {
  rows: { add(row: string): Promise<void> };
}

/** A database that is a list of rows, with the transactions of one connection and a switch for each fault. */
function createFake() {
  const log: string[] = [];
  const faults: { begin?: Error; commit?: Error; sync?: Error; rollback?: Error; add?: Error; lose?: boolean } = {};
  let committed: string[] = [];
  let durable: string[] = [];
  /** Functions that end the delayed syncs. */
  let held: (() => void)[] | undefined;
  let open: string[] | undefined;
  let saved: string[] = [];
  /** The codes of the transactions that were lost. */
  const failures: string[] = [];
  const step = (name: string, fault?: Error) => {
    log.push(name);
    if (fault !== undefined) throw fault;
  };
  const control: TransactionControl = {
    begin() {
      step('begin', faults.begin);
      open = [...committed];
    },
    async commit() {
      step('commit', faults.commit);
      committed = open ?? [];
      open = undefined;
    },
    sync(done) {
      const reached = committed;
      const end = () => {
        if (faults.sync === undefined) durable = reached;
        log.push('sync');
        done(faults.sync ?? null);
      };
      if (held) held.push(end);
      else setImmediate(end);
    },
    rollback() {
      step('rollback', faults.rollback);
      open = undefined;
    },
    savepoint() {
      step('savepoint');
      saved = [...(open ?? [])];
    },
    release: () => step('release'),
    rollbackToSavepoint() {
      step('undo');
      open = saved;
    },
    isOpen: () => open !== undefined,
    failed: ({ code }) => void failures.push(code),
  };
  const tx: Tx = {
    rows: {
      async add(row) {
        if (faults.lose) open = undefined;
        if (faults.add !== undefined) throw faults.add;
        open?.push(row);
      },
    },
  };
  const holdSyncs = () => {
    held = [];
    return () => {
      const ends = held ?? [];
      held = undefined;
      for (const end of ends) end();
    };
  };
  return { control, tx, log, failures, faults, holdSyncs, committed: () => committed, durable: () => durable };
}

function setUp(bounds?: GroupBounds, clock = () => 0) {
  const fake = createFake();
  /** The requested pauses in milliseconds; none of them takes any time. */
  const pauses: number[] = [];
  const pause = async (ms: number) => {
    pauses.push(ms);
    await turn();
  };
  const group = createGroupCommit(fake.control, () => openScope(fake.tx), bounds, pause, clock);
  const add = (row: string) => group.write((tx) => tx.rows.add(row));
  return { ...fake, pauses, group, add };
}

const fsyncFailed = () => new StorageError('SQLITE_IOERR_FSYNC', 'the disk failed');

/**
 * Resolves when a unit that was queued before has started: a group (units that share a transaction) waits for two
 * further turns of the event loop, and starts in the next.
 */
async function afterGroup(): Promise<void> {
  for (let turns = 0; turns < 3; turns++) await turn();
}

describe('group commit', () => {
  it('puts units that arrive in one turn into one transaction, in the order of arrival', async () => {
    const { add, log, durable } = setUp();
    await Promise.all(['a', 'b', 'c'].map(add));
    expect(log.filter((step) => step === 'commit')).to.have.length(1);
    expect(durable()).to.deep.equal(['a', 'b', 'c']);
  });

  it('waits for units that arrive in the next turn', async () => {
    const { add, log } = setUp();
    const first = add('a');
    await turn();
    await Promise.all([first, add('b')]);
    expect(log.filter((step) => step === 'commit')).to.have.length(1);
  });

  it('starts another transaction for units that arrive some turns later', async () => {
    const { add, log } = setUp();
    const first = add('a');
    await afterGroup();
    await Promise.all([first, add('b')]);
    expect(log.filter((step) => step === 'commit')).to.have.length(2);
  });

  it('resolves no write before its commit is durable', async () => {
    const { add, log } = setUp();
    const order: string[] = [];
    await Promise.all(['a', 'b'].map((row) => add(row).then(() => order.push(`${row} after ${log.at(-1)}`))));
    expect(order).to.deep.equal(['a after sync', 'b after sync']);
  });

  it('lets units that arrive while a commit becomes durable share the next one', async () => {
    const { add, log, holdSyncs, committed } = setUp();
    const endSyncs = holdSyncs();
    const first = add('a');
    await afterGroup();
    const later = ['b', 'c', 'd'].map(async (row) => {
      await add(row);
    });
    await afterGroup();
    await afterGroup();
    expect(committed()).to.deep.equal(['a']);
    endSyncs();
    await Promise.all([first, ...later]);
    expect(log.filter((step) => step === 'commit')).to.have.length(2);
  });

  it('returns immediately after the commit, and reports later when it is durable', async () => {
    const { group, holdSyncs, committed, durable } = setUp();
    const endSyncs = holdSyncs();
    const { value, durable: reached } = await group.commit(async (tx) => {
      await tx.rows.add('a');
      return 42;
    });
    expect([value, committed(), durable()]).to.deep.equal([42, ['a'], []]);
    endSyncs();
    await reached;
    expect(durable()).to.deep.equal(['a']);
  });

  it('commits units that do not wait for durability immediately, together with everything queued before them', async () => {
    const { add, group, holdSyncs, committed } = setUp();
    const endSyncs = holdSyncs();
    const first = add('a');
    await afterGroup();
    const second = add('b');
    await group.commit((tx) => tx.rows.add('c'));
    expect(committed()).to.deep.equal(['a', 'b', 'c']);
    endSyncs();
    await Promise.all([first, second]);
  });

  it('does not sync for a note alone, and includes it in the next write', async () => {
    const { add, group, log, committed, durable } = setUp();
    await group.note((tx) => tx.rows.add('a'));
    expect([committed(), log.includes('sync')]).to.deep.equal([['a'], false]);
    await add('b');
    expect(durable()).to.deep.equal(['a', 'b']);
  });

  it('lets notes wait some turns for a write to share its transaction, and no longer', async () => {
    const { group, add, log, committed } = setUp();
    const first = group.note((tx) => tx.rows.add('a'));
    await turn();
    await Promise.all([first, add('b')]);
    expect(log.filter((step) => step === 'commit')).to.have.length(1);
    const alone = group.note((tx) => tx.rows.add('c'));
    for (let turns = 0; turns < 5; turns++) await turn();
    expect(committed()).to.deep.equal(['a', 'b', 'c']);
    await alone;
  });

  it('runs one unit to its end before the next one begins', async () => {
    const { group, durable } = setUp();
    const unit = (name: string) =>
      group.write(async (tx) => {
        await tx.rows.add(`${name}1`);
        await Promise.resolve();
        await tx.rows.add(`${name}2`);
      });
    await Promise.all([unit('a'), unit('b')]);
    expect(durable()).to.deep.equal(['a1', 'a2', 'b1', 'b2']);
  });

  it('rolls back a unit that throws, alone, and rejects it with its own error', async () => {
    const { group, add, durable } = setUp();
    const mine = new Error('mine');
    const bad = group.write(async (tx) => {
      await tx.rows.add('bad');
      throw mine;
    });
    const [, error] = await Promise.all([add('a'), failure(bad), add('b')]);
    expect(error).to.equal(mine);
    expect(durable()).to.deep.equal(['a', 'b']);
  });

  it('rolls back a unit that throws before it returns a promise', async () => {
    const { group, add, durable } = setUp();
    const bad = group.write(() => {
      throw new Error('at once');
    });
    const [error] = await Promise.all([failure(bad), add('b')]);
    expect(error.message).to.equal('at once');
    expect(durable()).to.deep.equal(['b']);
  });

  it('returns the result of a unit', async () => {
    const { group } = setUp();
    expect(await group.write(async () => 42)).to.equal(42);
  });

  it('splits many units into transactions of limited size', async () => {
    const { add, log, durable } = setUp({ units: 4 });
    await Promise.all(Array.from({ length: 10 }, (_, i) => add(String(i))));
    expect(log.filter((step) => step === 'commit')).to.have.length(3);
    expect(durable()).to.have.length(10);
  });

  it('M10: ends a transaction after units that took long, and runs the rest in the next ones', async () => {
    let ms = 0;
    const { group, log, durable } = setUp({ unitsMs: 10 }, () => ms);
    const slow = (row: string) =>
      group.write(async (tx) => {
        ms += 4;
        await tx.rows.add(row);
      });
    const rows = Array.from({ length: 8 }, (_, i) => String(i));
    await Promise.all(rows.map(slow));
    const sizes = log
      .join(' ')
      .split('begin')
      .slice(1)
      .map((group) => group.split(' ').filter((step) => step === 'release').length);
    expect(sizes).to.deep.equal([3, 3, 2]);
    expect(durable()).to.deep.equal(rows);
  });

  it('M10: lets other work run between the transactions of slow units', async () => {
    let ms = 0;
    const { group, committed, holdSyncs } = setUp({ unitsMs: 10 }, () => ms);
    const endSyncs = holdSyncs();
    const all = Array.from({ length: 3 }, (_, i) =>
      group.commit(async (tx) => {
        ms += 10;
        await tx.rows.add(String(i));
      }),
    );
    const seen = new Set<number>();
    while (committed().length < 3) {
      await turn();
      seen.add(committed().length);
    }
    expect([...seen]).to.include.members([1, 2, 3]);
    endSyncs();
    await Promise.all(all);
  });

  it('M10: rejects a failed transaction alone, and not the units that are left for the next one', async () => {
    let ms = 0;
    const { group, faults, durable } = setUp({ unitsMs: 10 }, () => ms);
    const slow = (row: string) =>
      group.write(async (tx) => {
        ms += 10;
        await tx.rows.add(row);
      });
    faults.commit = new StorageError('SQLITE_FULL', 'the disk is full');
    const [first, second] = [failure(slow('a')), slow('b')];
    expect((await first).code).to.equal('SQLITE_FULL');
    delete faults.commit;
    await second;
    expect(durable()).to.deep.equal(['b']);
  });

  describe('a unit that waits for I/O', () => {
    const slow: Record<string, () => Promise<unknown>> = {
      'a timer': () => new Promise((resolve) => setTimeout(resolve, 0)),
      'a turn of the event loop': () => turn(),
      'a promise that never settles': () => new Promise(() => {}),
    };
    for (const [name, wait] of Object.entries(slow)) {
      it(`is rolled back and rejected when it awaits ${name}`, async () => {
        const { group, add, durable } = setUp();
        const held = group.write(async (tx) => {
          await tx.rows.add('held');
          await wait();
        });
        const [, error] = await Promise.all([add('a'), failure(held), add('b')]);
        expect(error.message).to.contain('held over I/O');
        expect(durable()).to.deep.equal(['a', 'b']);
      });
    }

    it('is detected each time', async () => {
      const { group, add, durable } = setUp();
      const held = () => failure(group.write(() => turn()));
      await Promise.all([held(), add('a'), held(), held(), add('b')]);
      expect(durable()).to.deep.equal(['a', 'b']);
    });

    it('cannot write into a later transaction of another unit', async () => {
      const { group, add, durable } = setUp();
      let late: Promise<unknown> = Promise.resolve();
      const held = group.write(async (tx) => {
        late = turn().then(() => tx.rows.add('late'));
        await late;
      });
      await failure(held);
      expect((await failure(late)).message).to.contain('used after its end');
      await add('a');
      expect(durable()).to.deep.equal(['a']);
    });

    it('is detected when it waits for another write', async () => {
      const { group, durable } = setUp();
      let inner: Promise<unknown> = Promise.resolve();
      const outer = group.write(async () => {
        inner = group.write((tx) => tx.rows.add('inner'));
        await inner;
      });
      expect((await failure(outer)).message).to.contain('held over I/O');
      await inner;
      expect(durable()).to.deep.equal(['inner']);
    });
  });

  describe('a unit that yields to the event loop', () => {
    it('lets other work run, but no other unit', async () => {
      const { group, add, log, committed } = setUp();
      let turns = 0;
      const count = () => {
        if (++turns < 100) setImmediate(count);
      };
      const large = group.write(async (tx) => {
        setImmediate(count);
        for (const row of ['1', '2', '3']) {
          await tx.rows.add(row);
          await group.yieldToEventLoop();
          expect([turns > 0, committed()]).to.deep.equal([true, []]);
        }
      });
      await afterGroup();
      await turn();
      await Promise.all([large, add('a')]);
      expect(turns).to.be.at.least(3);
      expect(committed()).to.deep.equal(['1', '2', '3', 'a']);
      expect(log.filter((step) => step === 'commit')).to.have.length(2);
    });

    it('is rolled back as a whole when it throws afterwards', async () => {
      const { group, add, durable } = setUp();
      const large = group.write(async (tx) => {
        await tx.rows.add('1');
        await group.yieldToEventLoop();
        await tx.rows.add('2');
        throw new Error('second thoughts');
      });
      const [error] = await Promise.all([failure(large), add('a')]);
      expect(error.message).to.equal('second thoughts');
      expect(durable()).to.deep.equal(['a']);
    });

    it('detects a unit that waits for I/O around a yield', async () => {
      const { group, add, durable } = setUp();
      const never = () => new Promise(() => {});
      const ways: (() => Promise<unknown>)[] = [
        () => group.yieldToEventLoop().then(never),
        () => Promise.all([group.yieldToEventLoop(), group.yieldToEventLoop()]).then(never),
        () => Promise.all([group.yieldToEventLoop(), never()]),
      ];
      for (const wait of ways) {
        const [error] = await Promise.all([failure(group.write(wait)), add('a')]);
        expect(error.message).to.contain('held over I/O');
      }
      expect(durable()).to.deep.equal(['a', 'a', 'a']);
    });

    it('writes nothing more when a failed sync has ended the transaction meanwhile', async () => {
      const { group, faults, holdSyncs, committed } = setUp();
      const endSyncs = holdSyncs();
      const { durable } = await group.commit((tx) => tx.rows.add('a'));
      let went = false;
      const large = group.commit(async (tx) => {
        await tx.rows.add('1');
        faults.sync = new Error('the disk failed');
        setImmediate(endSyncs);
        await group.yieldToEventLoop();
        await group.yieldToEventLoop();
        went = true;
      });
      expect((await failure(large)).code).to.equal('TRANSACTION_LOST');
      expect((await failure(durable)).code).to.equal('SQLITE_IOERR_FSYNC');
      expect([went, committed()]).to.deep.equal([false, ['a']]);
    });
  });

  it('makes a tx unusable after its unit', async () => {
    const { group } = setUp();
    const kept = await group.write(async (tx) => ({ rows: tx.rows }));
    expect(() => kept.rows.add('late')).to.throw('used after its end');
  });

  describe('when the storage fails', () => {
    it('rejects every unit of the group when the commit fails, and continues with the next group', async () => {
      const { add, faults, durable, group } = setUp();
      faults.commit = new StorageError('SQLITE_FULL', 'disk full');
      const errors = await Promise.all([failure(add('a')), failure(add('b'))]);
      expect(errors.map((error) => [error.name, error.code])).to.deep.equal(
        Array(2).fill(['StorageError', 'SQLITE_FULL']),
      );
      expect(durable()).to.deep.equal([]);
      expect(group.healthy()).to.equal(true);
      delete faults.commit;
      await add('c');
      expect(durable()).to.deep.equal(['c']);
    });

    it('reports each lost transaction, also of a single unit, but no unit that failed by itself', async () => {
      const { add, faults, failures, group } = setUp();
      await failure(group.write(() => Promise.reject(new Error('mine'))));
      expect(failures).to.deep.equal([]);
      faults.add = new StorageError('SQLITE_FULL', 'disk full');
      await failure(add('a'));
      delete faults.add;
      faults.commit = new StorageError('SQLITE_IOERR_WRITE', 'disk broken');
      await failure(add('b'));
      delete faults.commit;
      faults.sync = new Error('disk gone');
      await failure(add('c'));
      expect(failures).to.deep.equal(['SQLITE_FULL', 'SQLITE_IOERR_WRITE', 'SQLITE_IOERR_FSYNC']);
    });

    it('rejects every unit when the transaction cannot begin', async () => {
      const { add, faults, pauses } = setUp();
      faults.begin = new StorageError('SQLITE_IOERR_LOCK', 'no locks');
      const errors = await Promise.all([failure(add('a')), failure(add('b'))]);
      expect(errors.map(({ code }) => code)).to.deep.equal(Array(2).fill('SQLITE_IOERR_LOCK'));
      expect(pauses).to.deep.equal([]);
    });

    describe('because another process holds the write lock (F1)', () => {
      const locked = () => new RetryableError('SQLITE_BUSY', 'locked');

      it('retries after a pause, in the order of arrival, and loses nothing', async () => {
        const { add, faults, pauses, durable, log } = setUp();
        faults.begin = locked();
        const writes = ['a', 'b'].map(add);
        while (pauses.length < 5) await turn();
        const later = add('c');
        delete faults.begin;
        await Promise.all([...writes, later]);
        expect(durable()).to.deep.equal(['a', 'b', 'c']);
        expect(pauses).to.deep.equal([1, 2, 4, 8, 16]);
        expect(log.filter((step) => step === 'commit')).to.have.length(1);
      });

      it('rejects after five seconds of pauses, counted for each write', async () => {
        const { add, faults, pauses, group, durable } = setUp();
        faults.begin = locked();
        const order: string[] = [];
        const told = async (row: string) => {
          const error = await failure(add(row));
          order.push(`${row} ${error.code} after ${total()}`);
        };
        const total = () => pauses.reduce((sum, ms) => sum + ms, 0);
        const first = told('a');
        while (total() < 2_000) await turn();
        const second = told('b');
        const joined = total();
        await Promise.all([first, second]);
        expect(order[0]).to.match(/^a SQLITE_BUSY after 50\d\d$/);
        expect(order[1]).to.match(/^b SQLITE_BUSY after (69|70)\d\d$/);
        expect(joined).to.be.at.least(2_000);
        expect(group.healthy()).to.equal(true);
        delete faults.begin;
        await add('c');
        expect(durable()).to.deep.equal(['c']);
      });

      it('retries writes beyond the largest group for no longer than the others', async () => {
        const { add, faults, pauses } = setUp({ units: 1 });
        faults.begin = locked();
        await Promise.all(['a', 'b', 'c'].map((row) => failure(add(row))));
        expect(pauses.reduce((sum, ms) => sum + ms, 0)).to.be.lessThan(5_100);
      });

      it('lets the store be closed: waiting units are retried for as long as before', async () => {
        const { add, faults, group } = setUp();
        faults.begin = locked();
        const write = failure(add('a'));
        await group.drain();
        expect((await write).code).to.equal('SQLITE_BUSY');
      });
    });

    it('rejects the whole group when a failure in a unit has ended the transaction', async () => {
      const { add, group, faults, durable, log } = setUp();
      const first = failure(add('a'));
      const second = failure(
        group.write(async (tx) => {
          faults.lose = true;
          faults.add = new StorageError('SQLITE_FULL', 'disk full');
          await tx.rows.add('b');
        }),
      );
      const errors = await Promise.all([first, second, failure(add('c'))]);
      expect(errors.map((error) => error.code)).to.deep.equal(Array(3).fill('SQLITE_FULL'));
      expect(durable()).to.deep.equal([]);
      expect(log).not.to.include('commit');
    });

    it('rejects writes after a failed sync, with the reason', async () => {
      const { add, faults, group, log, durable } = setUp();
      faults.sync = new Error('the disk failed');
      expect((await failure(add('a'))).code).to.equal('SQLITE_IOERR_FSYNC');
      delete faults.sync;
      const steps = log.length;
      expect((await failure(add('b'))).code).to.equal('STORE_REFUSED');
      expect([group.healthy(), log.length, durable()]).to.deep.equal([false, steps, []]);
    });

    it('reports the failed sync to callers that did not wait for it', async () => {
      const { group, faults } = setUp();
      faults.sync = new Error('the disk failed');
      const { durable: reached } = await group.commit((tx) => tx.rows.add('a'));
      expect((await failure(reached)).code).to.equal('SQLITE_IOERR_FSYNC');
    });

    it('rejects writes after a commit whose fsync failed, with the reason', async () => {
      const { add, faults, group, log } = setUp();
      faults.commit = fsyncFailed();
      expect((await failure(add('a'))).code).to.equal('SQLITE_IOERR_FSYNC');
      expect(group.healthy()).to.equal(false);
      delete faults.commit;
      const steps = log.length;
      const refusal = await failure(add('b'));
      expect([refusal.name, refusal.code]).to.deep.equal(['StorageError', 'STORE_REFUSED']);
      expect(log).to.have.length(steps);
    });

    it('rejects units that were queued before a failed fsync', async () => {
      const { add, faults } = setUp({ units: 1 });
      faults.commit = fsyncFailed();
      const [first, second] = await Promise.all([failure(add('a')), failure(add('b'))]);
      expect(first.code).to.equal('SQLITE_IOERR_FSYNC');
      expect(second.code).to.equal('STORE_REFUSED');
    });

    it('commits nothing of a group in which a unit caused a failed fsync', async () => {
      const { add, group, durable, log } = setUp();
      const bad = group.write(async () => {
        throw fsyncFailed();
      });
      await Promise.all([failure(add('a')), failure(bad)]);
      expect(log).not.to.include('commit');
      expect(durable()).to.deep.equal([]);
      expect(group.healthy()).to.equal(false);
    });

    it('rejects writes after a transaction that could not be rolled back', async () => {
      const { add, faults, group } = setUp();
      faults.commit = new StorageError('SQLITE_FULL', 'disk full');
      faults.rollback = new Error('no');
      expect((await failure(add('a'))).code).to.equal('SQLITE_FULL');
      expect(group.healthy()).to.equal(false);
    });
  });

  it('completes queued units when it is drained, and accepts no more', async () => {
    const { add, group, durable } = setUp({ units: 2 });
    const queued = ['a', 'b', 'c'].map(add);
    await group.drain();
    await Promise.all(queued);
    expect(durable()).to.deep.equal(['a', 'b', 'c']);
    expect((await failure(add('d'))).code).to.equal('STORE_CLOSED');
    await group.drain();
  });
});
