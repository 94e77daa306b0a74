import { expect } from 'chai';
import { openSession, type Session } from '../../db/postgres/session.ts';
import type { CheckLine } from '../../db/store.ts';
import { type Cluster, startCluster } from '../../scripts/postgres/cluster.ts';
import { runCommand } from '../support/child-server.ts';
import { createTemplate, TEMPLATE } from '../support/postgres/databases.ts';
import { tempDir } from '../support/temp-dir.ts';
import { isOnServer } from '../support/test-engine.ts';

/** Sets the clock of a process ten days ahead: so far that the time of a query on a loaded machine is negligible. */
const CLOCK = `const RealDate = Date;
globalThis.Date = class extends RealDate { static now() { return RealDate.now() + 864000000; } };`;

describe('valetkey db check', () => {
  if (!isOnServer()) return;
  const folder = tempDir();
  let cluster: Cluster;
  let session: Session;

  before(async () => {
    cluster = startCluster(['fsync=on', 'full_page_writes=on']);
    await createTemplate(cluster.socket);
    session = await openSession(cluster.url(TEMPLATE));
  });
  after(async () => {
    await session.close();
    cluster.stop();
    folder.remove();
  });

  const run = (args: string[] = [], env: Record<string, string> = {}, before?: string) =>
    runCommand(
      ['db', 'check', ...args],
      { DATABASE_URL: cluster.url(TEMPLATE), DATA_DIR: folder.path, ...env },
      { before },
    );
  const change = (text: string) => session.query({ text });
  /** The result of one check by name, after a change that is undone afterwards. */
  async function lineAfter(name: string, doing: string, undoing: string, env = {}, before?: string): Promise<string> {
    await change(doing);
    const { code, stdout, stderr } = await run(['--json'], env, before);
    await change(undoing);
    expect(stdout, stderr).not.to.equal('');
    const lines = JSON.parse(stdout) as CheckLine[];
    const failing = lines.some(({ state }) => state === 'fail');
    expect(code).to.equal(failing ? 1 : 0);
    const line = lines.find((each) => each.name === name);
    return `${line?.state} ${line?.found}`;
  }

  it('prints a line for each check and exits with 0 when all checks pass', async () => {
    const { code, stdout, stderr } = await run();
    expect(code, stdout + stderr).to.equal(0);
    expect(stdout).to.match(/^ok +schema +0\d\d\d_/m);
    expect(stdout).to.match(/^ok +durability +synchronous_commit on; does not survive the loss of the primary$/m);
    expect(stdout.trim().split('\n')).to.have.length(15);
  });

  it('fails if writes wait for a standby that is not connected', async () => {
    const standbys = async () => (await change('show synchronous_standby_names')).rows[0]?.[0];
    const set = async (value: string) => {
      await change(`alter system set synchronous_standby_names = '${value}'`);
      await change('select pg_reload_conf()');
      while ((await standbys()) !== value) await new Promise((resolve) => setImmediate(resolve));
    };
    await set('one');
    const { code, stdout } = await run();
    await set('');
    expect(code).to.equal(1);
    expect(stdout).to.match(/^fail +durability +no standby of synchronous_standby_names is connected/m);
  });

  const CASES: [name: string, found: RegExp, doing: string, undoing: string][] = [
    ['indexes', /^fail missing: jobs_due$/, 'drop index jobs_due', 'create index jobs_due on jobs (kind)'],
    [
      'valid indexes',
      /^fail invalid: jobs_due;/,
      "update pg_index set indisvalid = false where indexrelid = 'jobs_due'::regclass",
      "update pg_index set indisvalid = true where indexrelid = 'jobs_due'::regclass",
    ],
    [
      'schema',
      /^fail .*lacks \d{4}_/,
      'delete from migrations where name = (select max(name) from migrations)',
      'select 1',
    ],
    [
      'durability',
      /^fail synchronous_commit off/,
      `alter database ${TEMPLATE} set synchronous_commit = off`,
      `alter database ${TEMPLATE} reset synchronous_commit`,
    ],
    [
      'isolation',
      /^fail default_transaction_read_only is on/,
      `alter database ${TEMPLATE} set default_transaction_read_only = on`,
      `set default_transaction_read_only = off; alter database ${TEMPLATE} reset default_transaction_read_only`,
    ],
    [
      'collation',
      /^fail not "C": mcp_configs.name/,
      'alter table mcp_configs alter column name type text collate "default"',
      'alter table mcp_configs alter column name type text collate "C"',
    ],
    ['extensions', /^fail missing: btree_gin/, 'drop extension btree_gin cascade', 'create extension btree_gin'],
  ];
  for (const [name, found, doing, undoing] of CASES) {
    it(`fails the check "${name}"`, async () => {
      expect(await lineAfter(name, doing, undoing)).to.match(found);
    });
  }

  it('checks the clocks, the number of connections, and the role', async () => {
    expect(await lineAfter('clock', 'select 1', 'select 1', {}, CLOCK)).to.match(
      /^fail .* differ by 86(39|40)\d{5} ms; synchronize their clocks$/,
    );
    const many = { DATABASE_CONNECTIONS: '400' };
    expect(await lineAfter('connections', 'select 1', 'select 1', many)).to.match(
      /^warn max_connections 500: enough for 1 servers/,
    );
    const other = { DATABASE_URL: cluster.url(TEMPLATE).replace('postgres@', 'reader@') };
    expect(await lineAfter('privileges', 'create role reader login', 'select 1', other)).to.match(
      /^fail .*cannot use .*accounts/,
    );
  });
});
