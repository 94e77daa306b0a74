import { expect } from 'chai';
import { runCommand, startChildServer } from '../support/child-server.ts';
import { createEmptyDatabase, dropDatabase, runIn, urlOf } from '../support/postgres/databases.ts';
import { tempDir } from '../support/temp-dir.ts';
import { isOnServer } from '../support/test-engine.ts';

describe('valetkey on PostgreSQL, as docs/postgresql.md says', () => {
  if (!isOnServer()) return;
  const folder = tempDir();
  let name: string;
  let env: Record<string, string>;

  before(() => {
    name = createEmptyDatabase();
    env = { DATABASE_URL: urlOf(name), DATA_DIR: folder.path, BASE_URL: 'http://localhost', PORT: '0' };
  });

  after(() => {
    dropDatabase(name);
    folder.remove();
  });

  it('refuses to start before the schema is created, and before the database is initialised', async () => {
    const serve = await runCommand(['serve'], env);
    expect([serve.code, serve.stderr]).to.satisfy(
      ([code, text]: [number, string]) => code === 1 && text.includes('valetkey db migrate'),
    );
    expect((await runCommand(['db', 'check'], env)).code).to.equal(1);
    expect((await runCommand(['db', 'migrate'], env)).stdout).to.include('0001_initial.sql');
    expect((await runCommand(['db', 'migrate'], env)).stdout).to.include('has the schema');
    expect((await runCommand(['db', 'check'], env)).stdout).to.match(/^ok +schema +0/m);
    const uninitialised = await runCommand(['serve'], env);
    expect(uninitialised.code).to.equal(1);
    expect(uninitialised.stderr).to.include('valetkey init');
  });

  it('two processes serve one database after one initialisation', async () => {
    const init = await runCommand(['init'], env);
    expect(init.code, init.stderr).to.equal(0);
    const id = /VALETKEY_CLIENT_ID=(\S+)/.exec(init.stderr)?.[1];
    const secret = /VALETKEY_CLIENT_SECRET=(\S+)/.exec(init.stderr)?.[1];
    const again = await runCommand(['init'], env);
    expect(again.stderr).not.to.include('VALETKEY_CLIENT_SECRET=');
    const servers = [await startChildServer(env), await startChildServer(env)];
    try {
      for (const { origin } of servers) {
        const body = new URLSearchParams({
          grant_type: 'client_credentials',
          client_id: id ?? '',
          client_secret: secret ?? '',
        });
        const response = await fetch(`${origin}/oauth/token`, { method: 'POST', body });
        expect(response.status).to.equal(200);
      }
    } finally {
      await Promise.all(servers.map((server) => server.stop()));
    }
    expect((await runCommand(['verify-audit'], env)).stdout).to.include('is complete');
    const backup = await runCommand(['backup', `${folder.path}/copy.db`], env);
    expect(backup.code).to.equal(1);
    expect(backup.stderr).to.include('the database is not a file');
  });

  it('is initialised once when two machines run the initialisation concurrently', async () => {
    const fresh = createEmptyDatabase();
    const folders = [tempDir(), tempDir()];
    try {
      const own = { ...env, DATABASE_URL: urlOf(fresh) };
      expect((await runCommand(['db', 'migrate'], own)).code).to.equal(0);
      const runs = await Promise.all(folders.map(({ path }) => runCommand(['init'], { ...own, DATA_DIR: path })));
      expect(runs.map(({ code }) => code).sort()).to.deep.equal([0, 1]);
      expect(runs.find(({ code }) => code === 1)?.stderr).to.match(/key/i);
      expect(runIn(fresh, 'select count(*) from environments').trim()).to.equal('1');
      expect(runIn(fresh, 'select count(*) from key_checks').trim()).to.equal('1');
      const first = folders[runs.findIndex(({ code }) => code === 0)]?.path ?? '';
      const again = await Promise.all([1, 2].map(() => runCommand(['init'], { ...own, DATA_DIR: first })));
      expect(again.map(({ code }) => code)).to.deep.equal([0, 0]);
    } finally {
      dropDatabase(fresh);
      for (const folder of folders) folder.remove();
    }
  });

  it('says what a role lacks, and refuses an encoding that cannot store every text', async () => {
    const visitor = `${name}_visitor`;
    runIn(name, `create role ${visitor} login`);
    const own = { ...env, DATABASE_URL: urlOf(name).replace('postgres@', `${visitor}@`) };
    const denied = await runCommand(['serve'], own);
    runIn(name, `drop role ${visitor}`);
    expect([denied.code, denied.stderr]).to.satisfy(
      ([code, text]: [number, string]) => code === 1 && text.includes('permission denied for table'),
    );
    const latin = `${name}_latin`;
    runIn(name, `create database ${latin} encoding 'LATIN1' locale 'C' template template0`);
    for (const args of [['db', 'migrate'], ['serve']]) {
      const { code, stderr } = await runCommand(args, { ...env, DATABASE_URL: urlOf(latin) });
      expect([code, stderr]).to.satisfy(
        ([status, text]: [number, string]) => status === 1 && text.includes('LATIN1: create a database with'),
      );
    }
    dropDatabase(latin);
  });

  it('has nothing to accept in a database that was not copied', async () => {
    const { code, stdout } = await runCommand(['accept-loss'], env);
    expect([code, stdout]).to.satisfy(
      ([status, text]: [number, string]) => status === 0 && text.includes('nothing to accept'),
    );
  });

  it('never prints the password of the database', async () => {
    const wrong = { ...env, DATABASE_URL: urlOf('no_such_database').replace('postgres@', 'postgres:secret-word@') };
    for (const args of [['serve'], ['db', 'migrate'], ['db', 'check'], ['init'], ['keys', 'list']]) {
      const { code, stdout, stderr } = await runCommand(args, wrong);
      expect(code, args.join(' ')).to.equal(1);
      expect(stdout + stderr).not.to.include('secret-word');
    }
  });
});
