import { statSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { expect } from 'chai';
import type { CheckpointThread } from '../../../db/sqlite/checkpoint-thread.ts';
import { createCheckpointer, type LogBounds } from '../../../db/sqlite/checkpointer.ts';
import type { Synced } from '../../../db/sqlite/durability.ts';
import { openConnections, openReader } from '../../../db/sqlite/open.ts';
import { createStore, openFiles, openSqliteStore } from '../../../db/sqlite/store.ts';
import { account, failure, github, NOW, openSharedTestStore, temporaryDirectory } from '../support.ts';

const FRAME = 4096 + 24;
const SMALL: LogBounds = { piece: 20, length: 100, lastPiece: 10, backlog: 1000 };

/** A writer that commits rows of one page each, and a main file whose syncs end when the test ends them. */
function setUp(bounds: Partial<LogBounds> = {}) {
  const directory = temporaryDirectory();
  const file = join(directory.path, 'test.db');
  const { writer, reader } = openConnections(file);
  const pin = openReader(file);
  const syncs: Synced[] = [];
  const main = { sync: (done: Synced) => void syncs.push(done), close: () => {} };
  /** Functions for the test to call; each moves the log into the main file, as the thread does. */
  const moves: (() => Promise<void>)[] = [];
  const other = new Database(file);
  const thread: CheckpointThread = {
    move: () =>
      new Promise((resolve) => {
        moves.push(async () => {
          other.pragma('wal_checkpoint(passive)');
          resolve();
          await turn();
        });
      }),
    end: async () => {},
  };
  const checkpointer = createCheckpointer({ writer, pin, main, thread, failed: () => {} }, { ...SMALL, ...bounds });
  writer.pragma('synchronous = off');
  writer.exec('create table t (x blob) strict');
  const insert = writer.prepare('insert into t (x) values (zeroblob(3500))');
  const commit = (count: number) => {
    for (let i = 0; i < count; i++) {
      writer.prepare('begin immediate').run();
      insert.run();
      checkpointer.around(() => writer.prepare('commit').run());
    }
  };
  const log = () => {
    const [row] = writer.pragma('wal_checkpoint(noop)') as { log: number; checkpointed: number }[];
    return { frames: row?.log ?? 0, moved: row?.checkpointed ?? 0 };
  };
  const endSyncs = (cause: Error | null = null) => {
    for (const done of syncs.splice(0)) done(cause);
  };
  const rows = () => reader.prepare('select count(*) from t').pluck().get();
  const end = () => {
    for (const client of [other, pin, reader, writer]) client.close();
    directory.remove();
  };
  const touch = async () => commit(1);
  return { writer, pin, file, checkpointer, syncs, moves, commit, touch, log, endSyncs, rows, end };
}

describe('the checkpointer', () => {
  let test: ReturnType<typeof setUp>;

  afterEach(() => test.end());

  it('does not move a log that is smaller than a piece', () => {
    test = setUp({ piece: 1000 });
    test.commit(20);
    expect(test.log()).to.deep.include({ moved: 0 });
    expect(test.syncs).to.have.length(0);
  });

  it('moves a piece and stops before the end of the log, where SQLite would sync the main file itself', () => {
    test = setUp();
    while (test.syncs.length === 0) test.commit(1);
    const { frames, moved } = test.log();
    expect(moved).to.be.greaterThan(20);
    expect(moved).to.be.lessThan(frames);
  });

  it('moves no more until the main file is synced', () => {
    test = setUp();
    while (test.syncs.length === 0) test.commit(1);
    const { moved } = test.log();
    test.commit(60);
    expect(test.log().moved).to.equal(moved);
    test.endSyncs();
    test.commit(20);
    expect(test.log().moved).to.be.greaterThan(moved);
  });

  it('restarts the log repeatedly under continuous writes', () => {
    test = setUp();
    let restarts = 0;
    let before = 0;
    for (let i = 0; i < 500; i++) {
      test.commit(1);
      test.endSyncs();
      const { frames } = test.log();
      if (frames < before) restarts++;
      before = frames;
      expect(frames).to.be.lessThan(160);
    }
    expect(restarts).to.be.greaterThan(3);
    expect(test.rows()).to.equal(500);
  });

  it('waits for readers of the log, and empties it afterwards', () => {
    test = setUp();
    test.commit(30);
    const other = new Database(test.file, { readonly: true });
    other.exec('begin');
    other.prepare('select count(*) from t').get();
    const go = (count: number) => {
      for (let i = 0; i < count; i++) {
        test.commit(1);
        test.endSyncs();
      }
    };
    go(200);
    expect(test.log().frames).to.be.greaterThan(200);
    other.close();
    go(150);
    expect(test.log().frames).to.be.lessThan(160);
    expect(test.rows()).to.equal(380);
  });

  it('never locks the log between two commits', () => {
    test = setUp();
    for (let i = 0; i < 60; i++) {
      test.commit(1);
      expect(test.pin.inTransaction).to.equal(false);
    }
  });

  it('does not fail a commit when it fails itself, and the log keeps its limit', () => {
    test = setUp();
    test.pin.close();
    for (let i = 0; i < 700; i++) {
      test.commit(1);
      test.endSyncs();
      expect(test.log().frames).to.be.lessThan(220);
    }
    expect(test.checkpointer.failure()).to.equal(null);
    expect(test.rows()).to.equal(700);
  });

  describe('with a backlog', () => {
    beforeEach(() => {
      test = setUp({ backlog: 200 });
    });

    /** Reads within a transaction of another process, as a backup does. */
    const readElsewhere = () => {
      const reader = new Database(test.file, { readonly: true });
      reader.exec('begin');
      reader.prepare('select count(*) from t').get();
      return reader;
    };

    it('moves no part of it on the event loop, but in the thread (F1)', async () => {
      test.commit(10);
      const reader = readElsewhere();
      const { frames } = test.log();
      for (let i = 0; i < 300; i++) {
        test.commit(1);
        test.endSyncs();
      }
      reader.close();
      test.commit(300);
      expect(test.log().moved).to.be.at.most(frames);
      expect(test.moves).to.have.length(1);
      await test.moves.pop()?.();
      expect(test.log().moved).to.be.greaterThan(600);
    });

    it('also moves it in the thread if the main file is never synced', async () => {
      test.commit(700);
      expect(test.syncs).to.have.length(1);
      expect(test.moves).to.have.length(1);
      await test.moves.pop()?.();
      test.commit(20);
      expect(test.log().frames).to.be.lessThan(100);
    });

    it('retries in the thread while another process reads', async () => {
      const reader = readElsewhere();
      test.commit(300);
      expect(test.moves).to.have.length(1);
      await test.moves.pop()?.();
      test.endSyncs();
      test.commit(10);
      expect(test.moves).to.have.length(1);
      reader.close();
      await test.moves.pop()?.();
      expect(test.log().moved).to.be.greaterThan(300);
    });
  });

  describe('emptying the log', () => {
    const empty = async () => {
      const emptied = test.checkpointer.empty(test.touch, () => {});
      const done = emptied.finally(() => {
        isDone = true;
      });
      let isDone = false;
      while (!isDone) {
        test.endSyncs();
        await test.moves.pop()?.();
        await turn();
      }
      return done;
    };
    const logBytes = () => statSync(`${test.file}-wal`).size;

    it('truncates it to zero bytes', async () => {
      test = setUp();
      test.commit(70);
      expect(logBytes()).to.be.greaterThan(0);
      expect(await empty()).to.equal(true);
      expect(logBytes()).to.equal(0);
      expect(test.rows()).to.equal(70 + 1);
    });

    it('waits for no reader or writer of another process, and reports that it has to be retried (F1)', async () => {
      test = setUp();
      test.commit(5);
      const other = new Database(test.file, { timeout: 0 });
      for (const [statement, end] of [
        ['begin; select count(*) from t', 'rollback'],
        ['begin immediate', 'rollback'],
      ] as const) {
        other.exec(statement);
        expect(await empty(), statement).to.equal(false);
        expect(logBytes()).to.be.greaterThan(0);
        other.exec(end);
      }
      expect(await empty()).to.equal(true);
      expect(logBytes()).to.equal(0);
      other.close();
    });

    it('moves a backlog in the thread first', async () => {
      test = setUp({ backlog: 100 });
      test.commit(300);
      const emptied = empty();
      expect(await emptied).to.equal(true);
      expect(logBytes()).to.equal(0);
    });

    it('keeps the log once the main file could not be synced', async () => {
      test = setUp();
      while (test.syncs.length === 0) test.commit(1);
      test.endSyncs(new Error('EIO'));
      expect(await empty()).to.equal(false);
      expect(logBytes()).to.be.greaterThan(0);
    });
  });

  it('passes the error of a commit on, and reuses its place in the log', () => {
    test = setUp();
    while (test.syncs.length === 0) test.commit(1);
    test.endSyncs();
    for (let i = 0; i < 60; i++) {
      expect(() =>
        test.checkpointer.around(() => {
          throw new Error('the disk is full');
        }),
      ).to.throw('the disk is full');
      expect(test.pin.inTransaction).to.equal(false);
    }
    test.commit(1);
  });

  it('reports a main file that could not be synced', async () => {
    test = setUp();
    while (test.syncs.length === 0) test.commit(1);
    const idle = test.checkpointer.idle();
    test.endSyncs(new Error('EIO'));
    await idle;
    expect(test.checkpointer.failure()?.message).to.equal('EIO');
  });
});

describe('the log of a store', () => {
  it('stays short under continuous writes from two stores, and loses none of them', async () => {
    const test = await openSharedTestStore({ logBounds: SMALL });
    const second = await openSqliteStore({ path: test.file, now: () => NOW, logBounds: SMALL });
    const connectionId = await github(test);
    const write = async (store: typeof second) => {
      for (let i = 0; i < 150; i++) {
        const row = account(test.newId, connectionId, { credentialsSealed: Buffer.alloc(3000, 1) });
        await store.write((tx) => tx.accounts.insert(test.env, row));
        expect(statSync(`${test.file}-wal`).size).to.be.lessThan(1000 * FRAME);
      }
    };
    await Promise.all([test.store, test.store, second].map(write));
    expect((await test.store.read.accounts.list(test.env, {}, { size: 1 })).total).to.equal(450);
    await second.close();
    await test.end();
  });

  it('is kept once the main file could not be synced, and no further write is acknowledged', async () => {
    const directory = temporaryDirectory();
    const file = join(directory.path, 'test.db');
    const opened = await openSqliteStore({ path: file, now: () => NOW });
    await opened.close();
    const connections = { ...openConnections(file), pin: openReader(file) };
    const files = openFiles(file);
    const sync = (done: Synced) => void setImmediate(() => done(new Error('EIO')));
    const failing = { ...files, main: { ...files.main, sync } };
    const store = createStore(connections, failing, { logBounds: SMALL });
    const error = await failure(
      (async () => {
        for (let i = 0; i < 200; i++) {
          const check = { kekId: `kek_${i}`, checkValue: Buffer.alloc(3000), createdAt: NOW };
          await store.write((tx) => tx.deploymentSecrets.insertKeyCheckIfAbsent(check));
        }
      })(),
    );
    expect(error.code).to.match(/^SQLITE_IOERR_FSYNC$|^STORE_REFUSED$/);
    expect(await store.healthy()).to.equal(false);
    await store.close();
    expect(statSync(`${file}-wal`).size).to.be.greaterThan(SMALL.piece * FRAME);
    const again = await openSqliteStore({ path: file, now: () => NOW });
    expect(await again.read.deploymentSecrets.keyChecks()).to.have.length.greaterThan(0);
    await again.close();
    directory.remove();
  });
});
