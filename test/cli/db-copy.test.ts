import { copyFileSync, existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect } from 'chai';
import { COPIED_TABLES } from '../../db/copy/tables.ts';
import { createAccount } from '../support/accounts.ts';
import { runCommand, startChildServer } from '../support/child-server.ts';
import { fillEveryTable } from '../support/full-database.ts';
import { createDatabase, dropDatabase, runIn, urlOf } from '../support/postgres/databases.ts';
import { selectFrom } from '../support/postgres/rows.ts';
import { tempDir } from '../support/temp-dir.ts';
import { isOnServer } from '../support/test-engine.ts';

const TOKEN = 'ghp_tokenThatIsCopied';
const AUTH = '/api/v1/connected_accounts/auth';

/** The sums of the tables that are computed from the copied ones, in statements that both engines understand. */
const COMPUTED = [
  'select connection_id, status, sum(total) as total from account_counts group by connection_id, status having sum(total) <> 0 order by 1, 2',
  'select tool_name, status, sum(total) as total from execution_counts group by tool_name, status having sum(total) <> 0 order by 1, 2',
  'select client_id, sum(bytes) as total from idempotency_bytes group by client_id having sum(bytes) <> 0 order by 1',
  'select name, sum(total) as total from counters group by name having sum(total) <> 0 order by 1',
];

describe('valetkey db copy', () => {
  if (!isOnServer()) return;
  const folder = tempDir();
  const source = join(folder.path, 'source');
  const file = join(source, 'valetkey.db');
  const databases: string[] = [];
  let accountId: string;

  before(async () => {
    const server = await startChildServer({ DATA_DIR: source });
    accountId = (await createAccount(server, { identifier: 'kept', token: TOKEN })).id;
    for (let place = 0; place < 5; place++) await createAccount(server, { identifier: `Ünüsual ${place}` });
    const removed = await createAccount(server, { identifier: 'removed' });
    const deleted = await server.call('POST', '/api/v1/connected_accounts:delete', { body: { id: removed.id } });
    expect(deleted.status).to.equal(200);
    await server.stop();
    fillEveryTable(file);
  });

  after(() => {
    for (const name of databases) dropDatabase(name);
    folder.remove();
  });

  const newDatabase = () => {
    const name = createDatabase();
    databases.push(name);
    return name;
  };
  /** The environment of a command; every data directory has the keys of the source. */
  const settings = (name: string, dataDir = source) => ({ DATABASE_URL: urlOf(name), DATA_DIR: dataDir });
  const copy = (name: string, args: string[], dataDir = source) =>
    runCommand(['db', 'copy', ...args], settings(name, dataDir));
  /** Creates a copy of the source file, because `db copy --from-file` makes its source unusable for servers. */
  const freshFile = () => {
    const path = join(folder.path, `file-${readdirSync(folder.path).length}.db`);
    copyFileSync(file, path);
    return path;
  };

  it('copies every row of every table to a server, and derived data is the same there', async () => {
    const [name, path] = [newDatabase(), freshFile()];
    const { code, stderr, stdout } = await copy(name, ['--from-file', path]);
    expect(code, stderr).to.equal(0);
    expect(stdout).to.include('Copied and verified: 6 accounts, 3 executions');
    expect(rowsOnServer(name)).to.deep.equal(rowsInFile(path));
    expect(computedOnServer(name)).to.deep.equal(computedInFile(path));
    await serves(settings(name));
    const refused = await runCommand(['serve'], { DATA_DIR: folder.path, DATABASE_URL: path, PORT: '0' });
    expect(refused.stderr).to.include('was copied to another database');
  });

  it('copies every row back to a file, with every hash chain of the audit log', async () => {
    const name = newDatabase();
    expect((await copy(name, ['--from-file', freshFile()])).code).to.equal(0);
    const server = await startChildServer(settings(name));
    await Promise.all(Array.from({ length: 40 }, (_, place) => createAccount(server, { identifier: `more ${place}` })));
    await server.stop();
    expect(Number(runIn(name, 'select count(*) from audit_heads')), 'chains').to.be.greaterThan(1);
    for (const sums of ['execution_statistics', 'refresh_statistics'])
      runIn(name, `insert into ${sums} select * from ${sums}`);
    const path = join(folder.path, 'back', 'valetkey.db');
    const { code, stderr } = await copy(name, ['--to-file', path]);
    expect(code, stderr).to.equal(0);
    expect(rowsInFile(path)).to.deep.equal(rowsOnServer(name));
    expect(computedInFile(path)).to.deep.equal(computedOnServer(name));
    writeFileSync(join(folder.path, 'back', 'keys'), '');
    copyFileSync(join(source, 'keys'), join(folder.path, 'back', 'keys'));
    await serves({ DATA_DIR: join(folder.path, 'back') });
    expect((await runCommand(['serve'], settings(name))).stderr).to.include('was copied to another database');
    expect((await runCommand(['accept-loss'], settings(name))).code).to.equal(0);
    await serves(settings(name));
  });

  it('refuses a target that has data, and changes neither side', async () => {
    const [name, path] = [newDatabase(), freshFile()];
    expect((await runCommand(['init'], { ...settings(name), BASE_URL: 'http://localhost' })).code).to.equal(0);
    const refused = await copy(name, ['--from-file', path]);
    expect(refused.code).to.equal(1);
    expect(refused.stderr).to.match(/the target has rows in \w+/);
    const onto = await copy(name, ['--to-file', path]);
    expect(onto.stderr).to.include('there is a database at');
    await serves({ DATA_DIR: source, DATABASE_URL: path });
  });

  it('refuses while a server runs on either side', async () => {
    const [name, path] = [newDatabase(), freshFile()];
    const onFile = await startChildServer({ DATA_DIR: source, DATABASE_URL: path });
    expect((await copy(name, ['--from-file', path])).stderr).to.include('another server uses the database');
    await onFile.stop();
    expect((await runCommand(['init'], { ...settings(name), BASE_URL: 'http://localhost' })).code).to.equal(0);
    const onServer = await startChildServer(settings(name));
    const refused = await copy(name, ['--to-file', join(folder.path, 'never', 'valetkey.db')]);
    expect(refused.stderr).to.include('a server uses the database');
    await onServer.stop();
  });

  it('refuses keys that do not decrypt the data, and a database with another schema', async () => {
    const [name, path, other] = [newDatabase(), freshFile(), join(folder.path, 'other')];
    const elsewhere = await startChildServer({ DATA_DIR: other });
    await elsewhere.stop();
    const wrong = await copy(name, ['--from-file', path], other);
    expect(wrong.code).to.equal(1);
    expect(wrong.stderr).to.include('Start with the key file, or VALETKEY_KEYS, that contains it');
    runIn(name, "delete from migrations where name = '0005_chains_and_programs.sql'");
    expect((await copy(name, ['--from-file', path])).stderr).to.include('bring both to the same version');
    expect(runIn(name, 'select count(*) from accounts').trim(), 'nothing was written').to.equal('0');
    await serves({ DATA_DIR: source, DATABASE_URL: path });
  });

  it('detects a changed record of the audit log, and copies nothing', async () => {
    const [name, path] = [newDatabase(), freshFile()];
    const db = new Database(path);
    db.exec(
      `drop trigger audit_log_final; update audit_log set actor = 'mallory' where rowid = (select max(seq) from audit_log)`,
    );
    db.close();
    const { code, stderr } = await copy(name, ['--from-file', path]);
    expect([code, stderr]).to.satisfy(
      ([exit, text]: [number, string]) => exit === 1 && text.includes('is broken at seq'),
    );
    expect(runIn(name, 'select count(*) from accounts').trim()).to.equal('0');
  });

  for (const direction of ['--from-file', '--to-file'] as const) {
    it(`leaves no usable copy ${direction} when it is interrupted at any step, and can be run again`, async () => {
      const name = newDatabase();
      if (direction === '--to-file') expect((await copy(name, ['--from-file', freshFile()])).code).to.equal(0);
      const path = direction === '--from-file' ? freshFile() : join(folder.path, 'interrupted', 'valetkey.db');
      for (const step of STEPS[direction]) {
        const killed = await runCommand(['db', 'copy', direction, path], settings(name), { before: killAt(step) });
        expect(killed.code, `${step}: ${killed.stdout}${killed.stderr}`).to.equal(77);
        if (direction === '--from-file')
          expect(runIn(name, 'select count(*) from accounts').trim(), step).to.equal('0');
        else expect(existsSync(path), step).to.equal(false);
      }
      const { code, stderr } = await copy(name, [direction, path]);
      expect(code, stderr).to.equal(0);
      expect(rowsOnServer(name)).to.deep.equal(rowsInFile(path));
    });
  }

  async function serves(env: Record<string, string>): Promise<void> {
    const server = await startChildServer(env);
    try {
      const { text } = await server.call('GET', `${AUTH}?id=${accountId}`);
      expect(text).to.include(TOKEN);
      await createAccount(server, {});
    } finally {
      await server.stop();
    }
    expect((await runCommand(['verify-audit'], env)).stdout).to.include('is complete');
  }
});

type Rows = Record<string, unknown[]>;

function rowsInFile(path: string): Rows {
  const db = new Database(path, { readonly: true });
  try {
    return rowsBy((table) =>
      db.prepare(`select * from ${table} ${table === 'data_keys' ? 'where used = 1' : ''}`).all(),
    );
  } finally {
    db.close();
  }
}

function rowsOnServer(name: string): Rows {
  return rowsBy((table) => selectFrom(name, `select * from ${table}`));
}

function rowsBy(read: (table: string) => unknown[]): Rows {
  return Object.fromEntries(COPIED_TABLES.map((table) => [table, read(table).map(comparable).sort()]));
}

/** Returns a row as text, without the computed column `lane`. */
function comparable(row: unknown): string {
  const { lane: _, ...values } = row as Record<string, unknown>;
  const entries = Object.entries(values).map(([key, value]) => [
    key,
    Buffer.isBuffer(value) ? value.toString('hex') : value,
  ]);
  return JSON.stringify(entries.sort());
}

function computedInFile(path: string): unknown[] {
  const db = new Database(path, { readonly: true });
  try {
    return COMPUTED.map((sql) => db.prepare(sql).all());
  } finally {
    db.close();
  }
}

function computedOnServer(name: string): unknown[] {
  return COMPUTED.map((sql) => selectFrom(name, sql));
}

/** The first statement of each step of a copy; `RENAME` is the renaming of the finished file. */
const STEPS = {
  '--from-file': [
    'insert into executions',
    'insert into account_counts',
    'insert or replace into migrations',
    'commit',
  ],
  '--to-file': ['insert into executions', 'insert into account_counts', 'insert into migrations', 'RENAME'],
};

/** Statements that end the process, as a crash does, before it executes a certain SQL statement. */
function killAt(step: string): string {
  return `
    import { createRequire, syncBuiltinESMExports } from 'node:module';
    const require = createRequire(${JSON.stringify(import.meta.url)});
    const exitAtStep = (text) => { if (String(text).trim().startsWith(${JSON.stringify(step)})) process.exit(77); };
    const wrap = (prototype, name, textOf) => {
      const real = prototype[name];
      prototype[name] = function (...args) { exitAtStep(textOf(args[0])); return real.apply(this, args); };
    };
    wrap(require('pg').Client.prototype, 'query', (config) => config?.text);
    wrap(require('better-sqlite3').prototype, 'prepare', (text) => text === 'begin immediate' ? '' : text);
    wrap(require('better-sqlite3').prototype, 'exec', (text) => text === 'commit' ? '' : text);
    wrap(require('node:fs'), 'renameSync', () => 'RENAME');
    syncBuiltinESMExports();`;
}
