import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import Database from 'better-sqlite3';
import { expect } from 'chai';
import { type Migration, migrationOf } from '../../../db/migrations.ts';
import { loadMigrations, migrate } from '../../../db/sqlite/migrate.ts';
import { type Client, openConnections } from '../../../db/sqlite/open.ts';
import { openSqliteStore } from '../../../db/sqlite/store.ts';
import { NOW, temporaryDirectory } from '../support.ts';

const file = migrationOf;

const ONE = file('0001_one.sql', 'create table one (id integer primary key) strict;');
const TWO = file('0002_two.sql', 'create table two (id integer primary key) strict;');
const THREE = file('0003_three.sql', 'create table three (id integer primary key) strict;');

describe('migrations', () => {
  let directory: ReturnType<typeof temporaryDirectory>;
  let client: Client;
  let close: () => void;

  beforeEach(() => {
    directory = temporaryDirectory();
    const { writer, reader } = openConnections(join(directory.path, 'migrate.db'));
    client = writer;
    close = () => {
      reader.close();
      writer.close();
    };
  });

  afterEach(() => {
    close();
    directory.remove();
  });

  const run = (files: Migration[]) => migrate(client, () => NOW, files);
  const tables = () =>
    client.prepare("select name from sqlite_schema where type = 'table' order by name").pluck().all();

  it('applies new files once, ordered by name', () => {
    expect(run([ONE])).to.deep.equal(['0001_one.sql']);
    expect(run([ONE, TWO, THREE])).to.deep.equal(['0002_two.sql', '0003_three.sql']);
    expect(run([ONE, TWO, THREE])).to.deep.equal([]);
    expect(client.prepare('select * from migrations where name = ?').get(ONE.name)).to.deep.equal({
      name: ONE.name,
      sha256: ONE.sha256,
      applied_at: NOW,
    });
  });

  it('refuses an applied file that was edited', () => {
    run([ONE, TWO]);
    expect(() => run([ONE, file(TWO.name, `${TWO.sql} `), THREE])).to.throw(/0002_two\.sql was changed/);
    expect(tables()).not.to.include('three');
  });

  it('refuses an applied file that is missing', () => {
    run([ONE, TWO]);
    expect(() => run([ONE])).to.throw(/lacks the migration 0002_two\.sql/);
  });

  it('refuses a database from before the first release, and explains how to migrate', () => {
    run([ONE, TWO]);
    for (const first of [file(ONE.name, `${ONE.sql} `), file('0001_initial.sql', ONE.sql)]) {
      expect(() => run([first, TWO])).to.throw(
        /development version from before release 0\.1\.0\. Set DATA_DIR to a new directory/,
      );
    }
    expect(run([ONE, TWO, THREE]), 'the control').to.deep.equal(['0003_three.sql']);
  });

  it('refuses a new file that sorts before an applied one', () => {
    run([ONE, THREE]);
    expect(() => run([ONE, TWO, THREE])).to.throw(/0002_two\.sql sorts before 0003_three\.sql/);
    expect(tables()).not.to.include('two');
  });

  it('applies nothing of a file that fails, and keeps those before it', () => {
    const broken = file('0003_broken.sql', 'create table half (id integer primary key) strict; create table half (x);');
    run([ONE]);
    expect(() => run([ONE, TWO, broken])).to.throw(/0003_broken\.sql failed/);
    expect(tables()).to.include.members(['one', 'two']).and.not.to.include('half');
    expect(client.pragma('foreign_keys', { simple: true })).to.equal(1);
    expect(run([ONE, TWO, THREE])).to.deep.equal(['0003_three.sql']);
  });

  it('leaves a new database empty if one of its files fails', () => {
    const broken = file('0002_broken.sql', 'create table half (x); create table half (x);');
    expect(() => run([ONE, broken])).to.throw(/0002_broken\.sql failed/);
    expect(tables()).to.deep.equal(['migrations']);
    expect(run([ONE, TWO])).to.deep.equal([ONE.name, TWO.name]);
  });

  it('refuses a file that leaves a dangling foreign key', () => {
    const base = file(
      '0001_base.sql',
      `create table parents (id integer primary key) strict;
       create table children (parent_id integer not null references parents (id)) strict;
       insert into parents values (1); insert into children values (1);`,
    );
    run([base]);
    expect(() => run([base, file('0002_orphans.sql', 'delete from parents;')])).to.throw(
      /dangling reference from children/,
    );
    expect(client.prepare('select count(*) from parents').pluck().get()).to.equal(1);
  });

  it('rebuilds a parent table without losing its children', () => {
    const base = file(
      '0001_base.sql',
      `create table parents (id integer primary key) strict;
       create table children (parent_id integer not null references parents (id) on delete cascade) strict;
       insert into parents values (1); insert into children values (1);`,
    );
    const rebuild = file(
      '0002_rebuild.sql',
      `create table parents_new (id integer primary key, name text not null default '') strict;
       insert into parents_new (id) select id from parents; drop table parents; alter table parents_new rename to parents;`,
    );
    run([base, rebuild]);
    expect(client.prepare('select count(*) from children').pluck().get()).to.equal(1);
    expect(() => client.prepare('insert into children values (9)').run()).to.throw(/FOREIGN KEY/);
  });

  it('determines what is left to do after it has taken the lock', () => {
    run([]);
    const late = openConnections(join(directory.path, 'migrate.db'));
    late.writer.pragma('busy_timeout = 0');
    let refusal: unknown;
    client.function('meanwhile', () => {
      try {
        migrate(late.writer, () => NOW, [ONE]);
      } catch (error) {
        refusal = error;
      }
      return 1;
    });
    run([file('0001_one.sql', `${ONE.sql} select meanwhile();`)]);
    late.reader.close();
    late.writer.close();
    expect(refusal).to.include({ name: 'StorageError', code: 'SQLITE_BUSY' });
  });

  it('waits while another process has locked the database that is being opened', async () => {
    const path = join(directory.path, 'locked.db');
    const other = new Database(path);
    other.exec('create table mine (id integer) strict; begin exclusive; insert into mine values (1)');
    let isOpen = false;
    const opening = openSqliteStore({ path, now: () => NOW }).then((store) => {
      isOpen = true;
      return store;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(isOpen, 'the control').to.equal(false);
    other.exec('commit');
    other.close();
    await (await opening).close();
  });

  it('applies each step once when several processes start together', async () => {
    const path = join(directory.path, 'race.db');
    const script = `
      const { openSqliteStore } = await import(process.argv[1]);
      const store = await openSqliteStore({ path: process.argv[2], now: () => ${NOW} });
      await store.close();`;
    const module = new URL('../../../db/sqlite/store.ts', import.meta.url).href;
    const start = () => promisify(execFile)(process.execPath, ['--input-type=module', '-e', script, module, path]);
    await Promise.all([start(), start(), start()]);
    const { writer, reader } = openConnections(path);
    const applied = writer.prepare('select name from migrations order by name').pluck().all();
    expect(applied).to.deep.equal(loadMigrations().map((migration) => migration.name));
    reader.close();
    writer.close();
  });
});
