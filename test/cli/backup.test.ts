import { existsSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { openMarkFile } from '../../db/sqlite/mark-file.ts';
import { createAccount } from '../support/accounts.ts';
import { runCommand } from '../support/child-server.ts';
import { selectRows, tamper } from '../support/database-file.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';
import { tempDir } from '../support/temp-dir.ts';

const ACCOUNTS = '/api/v1/connected_accounts';

describe('valetkey backup (F4)', () => {
  const folder = tempDir();
  let server: TestServer;
  let env: Record<string, string>;
  let directories = 0;

  before(async () => {
    server = await startTestServer();
    env = { DATA_DIR: server.dataDir };
    for (let i = 0; i < 5; i++) await createAccount(server, { identifier: `account-${i}` });
  });
  after(async () => {
    await server.stop();
    folder.remove();
  });

  const newDirectory = () => join(folder.path, `backups-${++directories}`);
  const namesIn = (directory: string) => (existsSync(directory) ? readdirSync(directory).sort() : []);
  const isCopying = (directory: string) => namesIn(directory).some((name) => name.endsWith('.partial'));

  it('copies and verifies the database of a running server that writes during the copy', async () => {
    const directory = newDirectory();
    const backup = join(directory, 'one.db');
    // Makes the database so large that a copy takes longer than some writes.
    tamper(server.parts.config.databaseFile, 'create table if not exists filler (x blob)');
    for (let i = 0; i < 40; i++)
      tamper(server.parts.config.databaseFile, 'insert into filler values (randomblob(1e6))');
    let isDone = false;
    let during = 0;
    const made = runCommand(['backup', backup], env).finally(() => {
      isDone = true;
    });
    for (let i = 0; !isDone; i++) {
      const before = isCopying(directory);
      await createAccount(server, { identifier: `meanwhile-${i}` });
      if (before && isCopying(directory)) during++;
    }
    const { code, stdout, stderr } = await made;
    expect(code, stderr).to.equal(0);
    expect(during, 'writes while the copy was being made').to.be.greaterThan(0);
    expect(stdout).to.match(
      /^Backup made and verified: \S+one\.db \(\d+ MiB\)\n {2}\d+ accounts, 0 executions, \d+ audit/,
    );
    expect(stdout).to.match(/A restore needs the keys kek_\w+\n$/);
    expect(statSync(backup).mode & 0o777).to.equal(0o600);
    expect(namesIn(directory)).to.deep.equal(['one.db']);
    const [count] = selectRows(backup, 'select count(*) as accounts from accounts');
    const [manifest] = selectRows(backup, 'select manifest from backup_manifest') as [{ manifest: string }];
    const { counts, keyIds, schema, format } = JSON.parse(manifest.manifest);
    expect(counts).to.include({ accounts: count?.['accounts'], filler: 40 });
    expect([format, keyIds.length, schema]).to.deep.equal([
      1,
      1,
      selectRows(backup, 'select max(name) as n from migrations')[0]?.['n'],
    ]);
    tamper(server.parts.config.databaseFile, 'drop table filler');
  });

  it('leaves no byte of deleted credentials in the copy', async () => {
    const { id } = await createAccount(server, { identifier: 'deleted-before' });
    const select = 'select credentials_sealed as value from accounts where id = ?';
    const [row] = selectRows(server.parts.config.databaseFile, select, id) as [{ value: Buffer }];
    const backup = join(newDirectory(), 'one.db');
    await runCommand(['backup', backup], env);
    expect(readFileSync(backup).includes(row.value.subarray(-30)), 'the control').to.equal(true);
    await server.call('POST', `${ACCOUNTS}:delete`, { body: { id } });
    const later = join(newDirectory(), 'two.db');
    await runCommand(['backup', later], env);
    expect(readFileSync(later).includes(row.value.subarray(-30))).to.equal(false);
  });

  it('does not overwrite an existing file', async () => {
    const directory = newDirectory();
    const backup = join(directory, 'one.db');
    await runCommand(['backup', backup], env);
    const bytes = readFileSync(backup);
    const { code, stderr } = await runCommand(['backup', backup], env);
    expect([code, stderr]).to.deep.equal([1, `valetkey backup: ${backup} already exists: choose another name\n`]);
    expect(readFileSync(backup).equals(bytes)).to.equal(true);
    expect(namesIn(directory)).to.deep.equal(['one.db']);
  });

  it('names backups in a directory by time, and deletes only old backups', async () => {
    const directory = newDirectory();
    await runCommand(['backup', '--dir', directory], env);
    const old = ['valetkey-20250101T000000Z.db', 'valetkey-20250102T000000Z.db', 'valetkey-20250103T000000Z.db'];
    const others = ['notes.txt', 'valetkey-before-upgrade.db'];
    for (const name of [...old, ...others]) writeFileSync(join(directory, name), '');
    const [first = ''] = namesIn(directory).filter((name) => !old.includes(name) && !others.includes(name));
    expect(first).to.match(/^valetkey-\d{8}T\d{6}Z\.db$/);
    let second = { code: 1 as number | null, stdout: '' };
    // Two backups in the same second have the same name, and the later one is refused.
    while (second.code !== 0) second = await runCommand(['backup', '--dir', directory, '--keep', '3'], env);
    expect(second.stdout.match(/^Removed /gm)).to.have.length(2);
    const left = namesIn(directory).filter((name) => !others.includes(name));
    expect(left).to.have.length(3);
    expect(left).to.include(first).and.to.include('valetkey-20250103T000000Z.db');
    expect(namesIn(directory)).to.include.members(others);
  });

  it('removes what an interrupted backup left at least an hour ago, and nothing more recent', async () => {
    const directory = newDirectory();
    await runCommand(['backup', join(directory, 'one.db')], env);
    const [abandoned, running] = ['.a.db.4711.partial', '.b.db.4712.partial'];
    for (const name of [abandoned, running]) writeFileSync(join(directory, name), '');
    const twoHoursAgo = Date.now() / 1000 - 7_200;
    utimesSync(join(directory, abandoned), twoHoursAgo, twoHoursAgo);
    await runCommand(['backup', join(directory, 'two.db')], env);
    expect(namesIn(directory)).to.deep.equal([running, 'one.db', 'two.db']);
  });

  it('reports the error, and leaves no files behind', async () => {
    const directory = newDirectory();
    const cases: [string[], Record<string, string>, RegExp, code?: number][] = [
      [[], env, /give either <file>, or --dir/],
      [['a.db', 'b.db'], env, /too many arguments/, 2],
      [['a.db', '--dir', directory], env, /give either <file>, or --dir/],
      [['a.db', '--keep', '3'], env, /--keep needs --dir/],
      [['--dir', directory, '--keep', '0'], env, /'--keep <number>' argument '0' is invalid/, 2],
      [['--verbose'], env, /unknown option '--verbose'/, 2],
      [[join(directory, 'one.db')], { DATA_DIR: folder.path }, /there is no database at/],
      [['/proc/one.db'], env, /ENOENT|EACCES|EPERM/],
    ];
    for (const [args, variables, message, expected = 1] of cases) {
      const { code, stderr } = await runCommand(['backup', ...args], variables);
      expect([code, stderr.split('\n').length], stderr).to.deep.equal([expected, 2]);
      expect(stderr).to.match(message);
    }
    expect(namesIn(directory)).to.deep.equal([]);
  });

  it('refuses a database with missing data, and a damaged one', async () => {
    const directory = newDirectory();
    const own = await startTestServer();
    await createAccount(own, { identifier: 'one' });
    const { databaseFile } = own.parts.config;
    await own.parts.store.close();
    const intact = readFileSync(databaseFile);
    const run = async () => runCommand(['backup', join(directory, 'one.db')], { DATA_DIR: own.dataDir });
    rmSync(databaseFile);
    writeFileSync(databaseFile, intact.fill(0xa5, 4096 * 7, 4096 * 7 + 200));
    expect((await run()).stderr).to.match(/damaged|malformed/);
    const claims = openMarkFile(databaseFile);
    const claim = { salts: '', frames: 0, totals: { accounts: 99 } };
    await new Promise((resolve) => claims.write(claim, resolve));
    claims.close();
    expect((await run()).stderr).to.match(/lacks data that was stored durably: 98 accounts/);
    await own.stop();
    expect(namesIn(directory)).to.deep.equal([]);
  });

  it('reports the directory of the backup on a full disk, and leaves no files behind', async () => {
    const directory = newDirectory();
    const { code, stderr } = await runCommand(['backup', join(directory, 'one.db')], env, { fileLimitKiB: 200 });
    expect(code).to.equal(1);
    expect(stderr).to.match(/^valetkey backup: the backup could not be written to .* \(disk I\/O error\)\n$/);
    expect(stderr).to.include(directory);
    expect(namesIn(directory)).to.deep.equal([]);
  });
});
