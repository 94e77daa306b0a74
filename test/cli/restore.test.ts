import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect } from 'chai';
import { createAccount } from '../support/accounts.ts';
import { runCommand } from '../support/child-server.ts';
import { tamper } from '../support/database-file.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';
import { tempDir } from '../support/temp-dir.ts';

const TOKEN = 'ghp_tokenThatMustSurvive';
const AUTH = '/api/v1/connected_accounts/auth';
const CLOCK = `const RealDate = Date;
globalThis.Date = class extends RealDate {
  constructor(...args) { super(...(args.length > 0 ? args : ['2026-11-22T10:00:00.500Z'])); }
};`;

describe('valetkey restore (F4)', () => {
  const folder = tempDir();
  const backup = join(folder.path, 'backup.db');
  const keys = join(folder.path, 'keys');
  let accountId: string;
  let directories = 0;

  before(async () => {
    const server = await startTestServer();
    accountId = (await createAccount(server, { identifier: 'kept', token: TOKEN })).id;
    for (let i = 0; i < 4; i++) await createAccount(server, { identifier: `account-${i}`, token: TOKEN });
    copyFileSync(join(server.dataDir, 'keys'), keys);
    expect((await runCommand(['backup', backup], { DATA_DIR: server.dataDir })).code).to.equal(0);
    await server.stop();
  });
  after(() => folder.remove());

  /** Creates a host that has nothing but the keys. */
  const newHost = () => {
    const path = join(folder.path, `host-${++directories}`);
    mkdirSync(path);
    copyFileSync(keys, join(path, 'keys'));
    return path;
  };
  /**
   * Every restore runs at the same fixed time. The names of the files that a restore keeps contain the time, to the
   * second. So this tests that several restores in one second do not disturb each other.
   */
  const restore = (dataDir: string, args: string[] = [], file = backup) =>
    runCommand(['restore', file, ...args], { DATA_DIR: dataDir }, { before: CLOCK });
  const on = async <T>(dataDir: string, use: (server: TestServer) => Promise<T>): Promise<T> => {
    const server = await startTestServer({ dataDir });
    try {
      return await use(server);
    } finally {
      await server.stop();
    }
  };
  const totalOn = (dataDir: string) =>
    on(dataDir, async (server) => (await server.call('GET', '/api/v1/connected_accounts')).body.total_size as number);
  const databaseOf = (dataDir: string) => join(dataDir, 'valetkey.db');
  const contentOf = (dataDir: string) =>
    Object.fromEntries(
      readdirSync(dataDir).map((name) => [name, readFileSync(join(dataDir, name)).toString('base64')]),
    );

  it('restores a backup on an empty host, where the server starts with every account and its credentials', async () => {
    const host = newHost();
    const { code, stdout, stderr } = await restore(host);
    expect([code, stderr]).to.deep.equal([0, '']);
    expect(stdout).to.match(/^Restored \S+valetkey\.db from the backup of \d{4}-\d\d-\d\dT\S+Z: 5 accounts\.\n$/);
    expect(statSync(databaseOf(host)).mode & 0o777).to.equal(0o600);
    expect(readdirSync(host).sort()).to.deep.equal(['keys', 'valetkey.db']);
    const tables = new Database(databaseOf(host), { readonly: true });
    expect(tables.prepare("select 1 from sqlite_schema where name = 'backup_manifest'").get()).to.equal(undefined);
    tables.close();
    const answer = await on(host, (server) => server.call('GET', `${AUTH}?id=${accountId}`));
    expect(answer.text).to.include(TOKEN);
    expect(await totalOn(host)).to.equal(5);
  });

  it('replaces a database only with --replace, prints what would be lost, and keeps the old one under another name', async () => {
    const host = newHost();
    await restore(host);
    await on(host, (server) => createAccount(server, { identifier: 'newer' }));
    const before = contentOf(host);
    const refused = await restore(host);
    expect(refused.code).to.equal(1);
    expect(refused.stderr).to.match(
      /^valetkey restore: there is a database at \S+, which has 1 accounts, \d+ audit records more than the backup\./,
    );
    expect(contentOf(host)).to.deep.equal(before);
    const { code, stdout } = await restore(host, ['--replace']);
    expect(code).to.equal(0);
    const [, kept = ''] = /kept as (\S+)\. Delete it/.exec(stdout) ?? [];
    expect(await totalOn(host)).to.equal(5);
    const earlier = newHost();
    copyFileSync(kept, databaseOf(earlier));
    expect(await totalOn(earlier)).to.equal(6);
  });

  it('keeps the write-ahead log that a crash left together with its database', async () => {
    const host = newHost();
    await restore(host);
    const crashed = newHost();
    await on(host, async (server) => {
      await createAccount(server, { identifier: 'in-the-log' });
      for (const suffix of ['', '-wal', '-mark']) copyFileSync(databaseOf(host) + suffix, databaseOf(crashed) + suffix);
    });
    const { stdout } = await restore(crashed, ['--replace']);
    const [, kept = ''] = /kept as (\S+)\. Delete it/.exec(stdout) ?? [];
    expect(await totalOn(crashed)).to.equal(5);
    const earlier = newHost();
    for (const suffix of ['', '-wal']) copyFileSync(kept + suffix, databaseOf(earlier) + suffix);
    expect(await totalOn(earlier)).to.equal(6);
  });

  it('does not use a write-ahead log without its database', async () => {
    const host = newHost();
    await restore(host);
    const log = await on(host, async (server) => {
      await createAccount(server, { identifier: 'in-the-log' });
      return readFileSync(`${databaseOf(host)}-wal`);
    });
    const other = newHost();
    writeFileSync(`${databaseOf(other)}-wal`, log);
    expect((await restore(other)).code).to.equal(0);
    expect(await totalOn(other)).to.equal(5);
  });

  it('does not change a database that is in use, regardless of the options', async () => {
    const host = newHost();
    await restore(host);
    await on(host, async (server) => {
      for (const args of [[], ['--replace']]) {
        const { code, stderr } = await restore(host, args);
        expect(code).to.equal(1);
        expect(stderr).to.match(/^valetkey restore: the database \S+ is in use: stop the server/);
      }
      expect((await createAccount(server, { identifier: 'still-served' })).id).to.match(/^ca_/);
    });
    const shell = new Database(databaseOf(host), { readonly: true });
    shell.prepare('select count(*) from accounts').get();
    expect((await restore(host, ['--replace'])).stderr).to.include('is in use');
    shell.close();
    expect(await totalOn(host)).to.equal(6);
  });

  it('replaces a database that is damaged', async () => {
    const host = newHost();
    await restore(host);
    const damages = [() => truncateSync(databaseOf(host), 5_000), () => writeFileSync(databaseOf(host), 'no database')];
    for (const damage of damages) {
      damage();
      expect((await restore(host)).code).to.equal(1);
      const { code, stderr } = await restore(host, ['--replace']);
      expect([code, stderr]).to.deep.equal([0, '']);
    }
    expect(await totalOn(host)).to.equal(5);
  });

  it('keeps each replaced database under a unique name, also within one second', async () => {
    const host = newHost();
    await restore(host);
    const kept: string[] = [];
    for (let i = 0; i < 3; i++) {
      const { code, stdout, stderr } = await restore(host, ['--replace']);
      expect([code, stderr]).to.deep.equal([0, '']);
      kept.push(/kept as (\S+)\. Delete it/.exec(stdout)?.[1] ?? '');
    }
    const name = `${databaseOf(host)}.replaced-20261122T100000Z`;
    expect(kept).to.deep.equal([name, `${name}-2`, `${name}-3`]);
    expect(kept.every(existsSync)).to.equal(true);
  });

  it('leaves no part of the backup behind when it fails', async () => {
    const host = newHost();
    await restore(host);
    // Makes the restore fail: a directory with the name of the log's index cannot be removed like a file.
    mkdirSync(`${databaseOf(host)}-shm`);
    expect((await restore(host, ['--replace'])).code).to.equal(1);
    expect(existsSync(`${databaseOf(host)}.restoring`)).to.equal(false);
  });

  it('refuses a backup that the given keys cannot decrypt', async () => {
    const host = newHost();
    rmSync(join(host, 'keys'));
    expect((await restore(host)).stderr).to.match(/The key file .* does not exist/);
    const id = /kek_\w+/.exec(readFileSync(keys, 'utf8'))?.[0];
    const key = (name: string) => `${name}:${Buffer.alloc(32, 7).toString('base64')}\n`;
    writeFileSync(join(host, 'keys'), key('kek_0123456789abcdef'), { mode: 0o600 });
    expect((await restore(host)).stderr).to.match(/encrypted records need the key kek_/);
    writeFileSync(join(host, 'keys'), key(String(id)), { mode: 0o600 });
    expect((await restore(host)).stderr).to.match(/is not the one that encrypted the stored data/);
    expect(existsSync(databaseOf(host))).to.equal(false);
  });

  const DAMAGES: Record<string, [(file: string) => unknown, RegExp]> = {
    'a damaged page': [
      (file) => {
        const bytes = readFileSync(file);
        bytes.fill(0xa5, 4096 * 9, 4096 * 9 + 300);
        writeFileSync(file, bytes);
      },
      /cannot be used: it is damaged/,
    ],
    'a part of a file': [(file) => truncateSync(file, 4096 * 20), /cannot be used: it is damaged/],
    'another file': [
      (file) => writeFileSync(file, 'not a database'),
      /cannot be used: it is damaged \(file is not a database\)/,
    ],
    nothing: [(file) => rmSync(file), /cannot be opened/],
    'a plain database': [(file) => tamper(file, 'drop table backup_manifest'), /was not made by `valetkey backup`/],
    'fewer rows than it says': [
      (file) => tamper(file, 'delete from account_counts'),
      /its content does not match its manifest/,
    ],
    'an audit record that was changed': [
      (file) => {
        tamper(file, 'drop trigger audit_log_final');
        tamper(file, "update audit_log set actor = 'nobody' where seq = (select min(seq) from audit_log)");
      },
      /the audit chain of env_\w+ is broken at seq \d+/,
    ],
    'a reference to a row that is missing': [
      (file) => tamper(file, 'delete from connections'),
      /a row of \w+ refers to a row that is missing/,
    ],
    'the schema of a newer program': [
      (file) => tamper(file, "insert into migrations (name, sha256, applied_at) values ('9999_future.sql', 'x', 1)"),
      /use a newer version of Valetkey/,
    ],
  };
  for (const [what, [damage, message]] of Object.entries(DAMAGES)) {
    it(`refuses ${what} in place of a backup, and does not change the host`, async () => {
      const host = newHost();
      const broken = join(folder.path, 'broken.db');
      copyFileSync(backup, broken);
      damage(broken);
      const { code, stderr } = await restore(host, [], broken);
      expect([code, stderr.split('\n').length], stderr).to.deep.equal([1, 2]);
      expect(stderr).to.match(message);
      expect(readdirSync(host)).to.deep.equal(['keys']);
    });
  }

  it('prints its usage', async () => {
    for (const args of [[], ['a.db', 'b.db'], ['--force', 'a.db']]) {
      const { code, stderr } = await runCommand(['restore', ...args], { DATA_DIR: newHost() });
      expect([code, stderr.split('\n').length], stderr).to.deep.equal([2, 2]);
    }
  });
});
