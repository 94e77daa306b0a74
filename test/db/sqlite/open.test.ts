import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { assertIntact, type Client, checkVersion, openConnections } from '../../../db/sqlite/open.ts';
import { openSqliteStore } from '../../../db/sqlite/store.ts';
import { failure, NOW, openSharedTestStore, temporaryDirectory } from '../support.ts';

describe('opening the database', () => {
  let directory: ReturnType<typeof temporaryDirectory>;
  let file: string;

  beforeEach(() => {
    directory = temporaryDirectory();
    file = join(directory.path, 'open.db');
  });

  afterEach(() => directory.remove());

  it('sets every pragma on both connections', () => {
    const { writer, reader } = openConnections(file);
    const settings = (client: Client) =>
      Object.fromEntries(
        [
          'journal_mode',
          'synchronous',
          'foreign_keys',
          'secure_delete',
          'trusted_schema',
          'cell_size_check',
          'busy_timeout',
          'mmap_size',
          'temp_store',
          'cache_size',
        ].map((name) => [name, client.pragma(name, { simple: true })]),
      );
    const expected = {
      journal_mode: 'wal',
      synchronous: 2,
      foreign_keys: 1,
      secure_delete: 1,
      trusted_schema: 0,
      cell_size_check: 1,
      busy_timeout: 0,
      mmap_size: 0,
      temp_store: 2,
    };
    expect(settings(writer)).to.deep.equal({ ...expected, cache_size: -10_240 });
    expect(settings(reader)).to.deep.equal({ ...expected, cache_size: -2048 });
    reader.close();
    writer.close();
  });

  it('returns a reader that cannot write', () => {
    const { writer, reader } = openConnections(file);
    writer.exec('create table t (x integer) strict');
    expect(() => reader.exec('insert into t (x) values (1)')).to.throw(/readonly/);
    reader.close();
    writer.close();
  });

  it('creates a database and a log that only the owner can read', async () => {
    const store = await openSqliteStore({ path: file, now: () => NOW });
    expect(statSync(file).mode & 0o777).to.equal(0o600);
    expect(statSync(`${file}-wal`).mode & 0o777).to.equal(0o600);
    await store.close();
  });

  it('refuses a version of SQLite with the checkpoint fault', () => {
    for (const old of ['3.51.2', '3.50.9', '2.99.99']) expect(() => checkVersion(old)).to.throw(/3\.51\.3 or later/);
    for (const good of ['3.51.3', '3.52.0', '4.0.0']) expect(() => checkVersion(good)).not.to.throw();
  });

  it('rejects a file that is not a database', async () => {
    writeFileSync(file, 'not a database, but long enough to be taken for one'.repeat(40));
    const error = await failure(openSqliteStore({ path: file, now: () => NOW }));
    expect(error.name).to.equal('StorageError');
    expect(error.message).to.contain(file);
  });

  it('refuses a directory in the place of the file', async () => {
    mkdirSync(file);
    const error = await failure(openSqliteStore({ path: file, now: () => NOW }));
    expect(error.name).to.equal('StorageError');
  });

  it('refuses a file with a damaged page, even if the check itself fails on it', async () => {
    const test = await openSharedTestStore();
    await test.store.scrub();
    const bytes = readFileSync(test.file);
    await test.end();
    const pageSize = bytes.readUInt16BE(16);
    for (const page of [2, 5, 9]) {
      const damaged = Buffer.from(bytes);
      damaged.fill(0xa5, page * pageSize, page * pageSize + 64);
      writeFileSync(file, damaged);
      const error = await failure(openSqliteStore({ path: file, now: () => NOW }));
      expect(error.code).to.equal('DATABASE_DAMAGED');
      expect(error.message).to.contain('backup');
    }
  });

  it('does not check a large file, which is left to the operator', async () => {
    const { writer, reader } = openConnections(file, { checkUpTo: 0 });
    expect(() => assertIntact(writer)).not.to.throw();
    reader.close();
    writer.close();
  });
});
