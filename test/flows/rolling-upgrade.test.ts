import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { newestMigration } from '../../db/postgres/load-migrations.ts';
import { type ChildServer, runCommand, startChildServer } from '../support/child-server.ts';
import { createEmptyDatabase, dropDatabase, urlOf } from '../support/postgres/databases.ts';
import { CLIENT_ID, CLIENT_SECRET } from '../support/server.ts';
import { tempDir } from '../support/temp-dir.ts';
import { isOnServer } from '../support/test-engine.ts';

const ROOT = join(import.meta.dirname, '../..');
const SOURCES = ['catalogue', 'cli', 'core', 'db', 'generated', 'handlers', 'http', 'web', 'wiring'];
const ACCOUNTS = '/api/v1/connected_accounts';
/** The number of concurrent clients, and the minimum number of requests in each step. */
const CLIENTS = 6;
const STEP = 30;

describe('a rolling upgrade from version N to N + 1', () => {
  if (!isOnServer()) return;
  const folder = tempDir();
  const root = join(folder.path, 'next');
  let name: string;
  let env: Record<string, string>;

  before(async () => {
    name = createEmptyDatabase();
    env = { DATABASE_URL: urlOf(name), DATA_DIR: folder.path, BASE_URL: 'http://localhost' };
    mkdirSync(root);
    const filter = (file: string) => !file.endsWith('node_modules');
    for (const source of SOURCES) cpSync(join(ROOT, source), join(root, source), { recursive: true, filter });
    cpSync(join(ROOT, 'package.json'), join(root, 'package.json'));
    symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'));
    const migrations = join(root, 'db/postgres/migrations');
    writeFileSync(
      join(migrations, '9001_expand.sql'),
      `-- readable-from: ${String(newestMigration()).padStart(4, '0')}\nalter table accounts add column note text;\n`,
    );
    writeFileSync(
      join(migrations, '9002_contract.sql'),
      '-- contract\n-- readable-from: 9001\nalter table accounts drop column note;\n',
    );
    expect((await runCommand(['db', 'migrate'], env)).code).to.equal(0);
    const client = { VALETKEY_CLIENT_ID: CLIENT_ID, VALETKEY_CLIENT_SECRET: CLIENT_SECRET };
    expect((await runCommand(['init'], { ...env, ...client })).code).to.equal(0);
  });

  after(() => {
    dropDatabase(name);
    folder.remove();
  });

  it('fails no request while servers are replaced and the schema changes twice', async () => {
    const next = (args: string[]) => runCommand(args, env, { root });
    const old = await startChildServer(env);
    const load = startLoad([old]);
    try {
      await load.atLeast(STEP);
      const expanded = await next(['db', 'migrate', '--expand']);
      expect(expanded.stdout, expanded.stderr).to.include('Applied 9001_expand.sql');
      await load.atLeast(STEP);
      const server = await startChildServer(env, { root });
      load.use([old, server]);
      await load.atLeast(STEP);
      const early = await next(['db', 'migrate', '--contract']);
      expect([early.code, early.stderr]).to.satisfy(
        ([code, text]: [number, string]) => code === 1 && text.includes('cannot work with the database after 9002'),
      );
      await load.use([server]);
      expect((await old.stop()).code).to.equal(0);
      const contracted = await next(['db', 'migrate', '--contract']);
      expect(contracted.stdout, contracted.stderr).to.include('Applied 9002_contract.sql');
      await load.atLeast(STEP);
      const tooOld = await runCommand(['serve'], { ...env, PORT: '0' });
      expect(tooOld.stderr).to.include('use a newer version of Valetkey');
      await load.end();
      await server.stop();
    } finally {
      await load.end();
    }
    expect([...new Set(load.failures())].slice(0, 5)).to.deep.equal([]);
    expect((await runCommand(['verify-audit'], env, { root })).stdout).to.include('is complete');
  });
});

/** Creates and reads accounts continuously, like clients of a proxy that sends new requests to the given servers. */
function startLoad(first: ChildServer[]) {
  let servers = first;
  let isEnded = false;
  let done = 0;
  let made = 0;
  const failures: string[] = [];
  const busy = new Map<Promise<unknown>, ChildServer>();
  const waiting: { until: number; resolve: () => void }[] = [];

  async function request(): Promise<void> {
    const server = servers[made++ % servers.length] as ChildServer;
    const body = {
      connector: 'github',
      identifier: `rolling-${made}`,
      user_id: 'ada',
      connected_account: { authorization_details: { static_auth: { details: { token: 'ghp_rolling' } } } },
    };
    const exchange = (async () => {
      const created = await server.call('POST', ACCOUNTS, { body });
      if (created.status !== 201) throw new Error(`create ${created.status} ${created.text}`);
      const read = await server.call('GET', `${ACCOUNTS}/auth?id=${created.body.connected_account.id}`);
      if (read.status !== 200) throw new Error(`read ${read.status} ${read.text}`);
    })().catch((error) => failures.push(String(error)));
    busy.set(exchange, server);
    await exchange;
    busy.delete(exchange);
    done++;
    for (const each of waiting) if (each.until <= done) each.resolve();
  }

  const clients = Array.from({ length: CLIENTS }, async () => {
    while (!isEnded) await request();
  });
  return {
    failures: () => failures,
    /** Waits until this many more exchanges have ended. */
    atLeast: (more: number) => new Promise<void>((resolve) => waiting.push({ until: done + more, resolve })),
    /** Sends new requests to these servers. @returns a promise for the end of the requests to the others */
    async use(next: ChildServer[]) {
      servers = next;
      await Promise.all([...busy].flatMap(([exchange, server]) => (next.includes(server) ? [] : [exchange])));
    },
    async end() {
      isEnded = true;
      await Promise.all(clients);
    },
  };
}
