import { copyFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect } from 'chai';
import { openConnections, openReader } from '../../../db/sqlite/open.ts';
import { createStore, openFiles, openSqliteStore } from '../../../db/sqlite/store.ts';
import {
  account,
  github,
  manyTools,
  NOW,
  openSharedTestStore,
  type TestStore,
  temporaryDirectory,
  totalOfAccounts,
} from '../support.ts';

describe('the store over SQLite', () => {
  let test: TestStore;
  let connectionId: string;

  beforeEach(async () => {
    test = await openSharedTestStore();
    connectionId = await github(test);
  });

  afterEach(() => test.end());

  const total = () => totalOfAccounts(test);

  it('has written to the file what it acknowledges', async () => {
    const row = account(test.newId, connectionId);
    await test.store.write((tx) => tx.accounts.insert(test.env, row));
    const other = new Database(test.file, { readonly: true });
    expect(other.prepare('select id from accounts').pluck().all()).to.deep.equal([row.id]);
    other.close();
  });

  describe('with a transaction in many pieces', () => {
    const rows = manyTools();
    const writeAll = (between: () => unknown) =>
      test.store.write(async (tx) => {
        await tx.environmentTools.upsert(test.env, rows.slice(0, 599));
        await tx.yieldToEventLoop();
        await between();
        await tx.environmentTools.upsert(test.env, rows.slice(599));
      });

    it('leaves no data of it when the process ends between two pieces', async () => {
      const directory = temporaryDirectory();
      const image = join(directory.path, 'image.db');
      await writeAll(() => {
        for (const end of ['', '-wal']) copyFileSync(`${test.file}${end}`, `${image}${end}`);
      });
      expect(statSync(`${image}-wal`).size).to.be.above(1_000_000);
      const store = await openSqliteStore({ path: image, now: () => NOW });
      expect(await store.read.environmentTools.names(test.env)).to.deep.equal([]);
      expect(await store.read.environmentTools.revision(test.env)).to.equal(0);
      await store.close();
      directory.remove();
    });

    it('does not scrub the files meanwhile, but afterwards', async () => {
      let scrubbed: Promise<boolean> | undefined;
      await writeAll(() => {
        scrubbed = test.store.scrub();
      });
      expect(await scrubbed).to.equal(false);
      expect(await test.store.scrub()).to.equal(true);
    });
  });

  it('rejects the group that meets a full disk, keeps its data, continues to read, and writes again when there is space', async () => {
    await test.store.close();
    const { writer, reader } = openConnections(test.file);
    test.store = createStore({ writer, reader, pin: openReader(test.file) }, openFiles(test.file));
    const pages = writer.pragma('page_count', { simple: true }) as number;
    writer.pragma(`max_page_count = ${pages}`);
    const kept: string[] = [];
    let full: Error & { code?: string };
    for (;;) {
      const row = account(test.newId, connectionId, { credentialsSealed: Buffer.alloc(3000) });
      try {
        await test.store.write((tx) => tx.accounts.insert(test.env, row));
        kept.push(row.id);
      } catch (error) {
        full = error as Error;
        break;
      }
    }
    expect([full.name, full.code]).to.deep.equal(['StorageError', 'SQLITE_FULL']);
    expect(await total()).to.equal(kept.length);
    expect(await test.store.healthy()).to.equal(false);
    writer.pragma(`max_page_count = ${pages + 1000}`);
    await test.store.write((tx) => tx.accounts.insert(test.env, account(test.newId, connectionId)));
    expect(await total()).to.equal(kept.length + 1);
    expect(await test.store.healthy(), 'one write may find room on a full disk').to.equal(false);
    await test.store.probe();
    await test.store.probe();
    expect(await test.store.healthy()).to.equal(true);
  });

  it('keeps no account in the table of accounts that wait for the search index', async () => {
    await test.store.write((tx) => tx.accounts.insert(test.env, account(test.newId, connectionId)));
    const client = new Database(test.file, { readonly: true });
    expect(client.prepare('select count(*) from accounts_unindexed').pluck().get()).to.equal(0);
    client.close();
  });
});
