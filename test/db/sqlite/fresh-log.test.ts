import { copyFileSync, existsSync, readFileSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect } from 'chai';
import { markFilesUntrusted, startFreshLog } from '../../../db/sqlite/fresh-log.ts';
import { openConnections } from '../../../db/sqlite/open.ts';
import { openSqliteStore } from '../../../db/sqlite/store.ts';
import { account, failure, github, NOW, openSharedTestStore, temporaryDirectory } from '../support.ts';

describe('the log of an earlier process (F2)', () => {
  let directory: ReturnType<typeof temporaryDirectory>;
  let file: string;
  const clients: InstanceType<typeof Database>[] = [];

  beforeEach(() => {
    directory = temporaryDirectory();
    file = join(directory.path, 'test.db');
  });
  afterEach(() => {
    for (const client of clients.splice(0).reverse()) client.close();
    directory.remove();
  });

  const open = () => {
    const { writer, reader } = openConnections(file);
    clients.push(writer, reader);
    return writer;
  };
  const openOther = () => {
    const other = new Database(file, { timeout: 0 });
    other.pragma('wal_autocheckpoint = 0');
    clients.push(other);
    return other;
  };
  /** Creates a database with a log of a hundred rows. The returned connection prevents the removal of the log. */
  const withLog = () => {
    const other = openOther();
    other.pragma('journal_mode = wal');
    other.exec('create table t (x blob)');
    for (let i = 0; i < 100; i++) other.exec('insert into t values (randomblob(3000))');
    return other;
  };
  const log = () => `${file}-wal`;
  const instantly = async () => {};

  it('is moved into the main file and starts from its beginning before a store writes', async () => {
    const test = await openSharedTestStore();
    const connectionId = await github(test);
    for (let i = 0; i < 30; i++) {
      await test.store.write((tx) => tx.accounts.insert(test.env, account(test.newId, connectionId)));
    }
    // Copies the files as a killed process would leave them.
    for (const suffix of ['', '-wal']) copyFileSync(test.file + suffix, file + suffix);
    await test.end();
    expect(statSync(log()).size).to.be.greaterThan(0);
    const store = await openSqliteStore({ path: file, now: () => NOW });
    expect(statSync(log()).size).to.equal(0);
    const alone = join(directory.path, 'alone.db');
    copyFileSync(file, alone);
    const copy = new Database(alone);
    expect(copy.prepare('select count(*) from accounts').pluck().get()).to.equal(30);
    copy.close();
    await store.close();
  });

  it('is retried after pauses until a reader ends', async () => {
    const other = withLog();
    other.exec('begin');
    other.prepare('select count(*) from t').get();
    const writer = open();
    let pauses = 0;
    await startFreshLog(writer, async () => {
      if (++pauses === 5) other.exec('commit');
    });
    expect(pauses).to.equal(5);
    expect(statSync(log()).size).to.equal(0);
  });

  it('is written again in its place, byte by byte the same, when a reader remains', async () => {
    const other = withLog();
    other.exec('begin');
    other.prepare('select count(*) from t').get();
    const writer = open();
    const before = readFileSync(log());
    utimesSync(log(), 1, 1);
    await startFreshLog(writer, instantly);
    expect(readFileSync(log()).equals(before)).to.equal(true);
    expect(statSync(log()).mtimeMs).to.be.greaterThan(1_000);
    expect(other.prepare('select count(*) from t').pluck().get()).to.equal(100);
    other.exec('commit');
    writer.exec('insert into t values (null)');
    expect(other.prepare('select count(*) from t').pluck().get()).to.equal(101);
  });

  it('prevents a start when it cannot be written because another process holds the lock', async () => {
    const other = withLog();
    other.exec('begin immediate');
    const writer = open();
    expect((await failure(startFreshLog(writer, instantly))).code).to.equal('SQLITE_BUSY');
  });

  describe('after a sync that failed', () => {
    it('is moved completely, and its marker is removed', async () => {
      withLog();
      const writer = open();
      markFilesUntrusted(file);
      expect(existsSync(`${file}-unsynced`)).to.equal(true);
      await startFreshLog(writer, instantly);
      expect(existsSync(`${file}-unsynced`)).to.equal(false);
      expect(statSync(log()).size).to.equal(0);
    });

    it('prevents a start while another process considers a part of it moved', async () => {
      const other = withLog();
      const reader = openOther();
      reader.exec('begin');
      reader.prepare('select count(*) from t').get();
      other.exec('insert into t values (randomblob(3000))');
      other.pragma('wal_checkpoint(passive)');
      reader.exec('commit');
      const writer = open();
      markFilesUntrusted(file);
      const error = await failure(startFreshLog(writer, instantly));
      expect(error.code).to.equal('DATABASE_UNSYNCED');
      expect(error.message).to.contain(file).and.to.contain('End that process');
      expect(statSync(log()).size).to.be.greaterThan(0);
      for (const client of clients.splice(0)) client.close();
      const alone = open();
      await startFreshLog(alone, instantly);
      expect(existsSync(`${file}-unsynced`)).to.equal(false);
    });
  });
});
