import { cpSync, existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { createAccount } from '../support/accounts.ts';
import { runCommand, startChildServer } from '../support/child-server.ts';
import { startTestServer } from '../support/server.ts';
import { tempDir } from '../support/temp-dir.ts';
import { firstEnvironment } from '../support/tokens.ts';

/**
 * Sets the clock of a process forty days ahead and makes it run a hundred times as fast, so that the first search for
 * expired rows comes soon.
 */
const LATER = `
  const [now, startedAt] = [Date.now, Date.now()];
  Date.now = () => startedAt + 40 * 24 * 3600 * 1000 + (now() - startedAt) * 100;
`;

describe('valetkey audit verify (F7)', () => {
  const folder = tempDir();
  const dataDir = join(folder.path, 'data');
  const env = { DATA_DIR: dataDir };
  let environmentId: string;

  before(async () => {
    const server = await startTestServer({ dataDir });
    environmentId = (await firstEnvironment(server)).id;
    for (let i = 0; i < 20; i++) await createAccount(server, { identifier: `account-${i}` });
    const body = { audit_retention_days: 30 };
    expect((await server.call('PUT', '/api/v1/environment', { body })).status).to.equal(200);
    await server.stop();
  });
  after(() => folder.remove());

  const verify = (...args: string[]) => runCommand(['audit', 'verify', ...args], env);
  const archive = () => join(dataDir, 'audit-archive', environmentId);

  it('verifies an audit log that has no archived records', async () => {
    const { code, stdout } = await verify();
    expect([code, stdout]).to.deep.equal([
      0,
      `${environmentId}: the audit log is complete: ${/\d+/.exec(stdout.split(':')[2] ?? '')} in the database\n`,
    ]);
  });

  it('verifies the archives of a running server together with its database', async () => {
    const server = await startChildServer(env, { before: LATER });
    try {
      const isArchived = () => existsSync(archive()) && readdirSync(archive()).some((name) => name.endsWith('.jsonl'));
      while (!isArchived()) await new Promise((resolve) => setTimeout(resolve, 20));
      const { code, stdout, stderr } = await verify();
      expect([code, stderr]).to.deep.equal([0, '']);
      expect(stdout).to.match(/: the audit log is complete: \d{2} in 1 files? of the archive, \d+ in the database\n$/);
    } finally {
      await server.stop();
    }
  });

  it('reports the damage, and exits with 1', async () => {
    const [name = ''] = readdirSync(archive());
    const path = join(archive(), name);
    const whole = readFileSync(path, 'utf8');
    writeFileSync(path, whole.replace('connected_account.created', 'connected_account.deleted'));
    const changed = await verify();
    expect(changed.code).to.equal(1);
    expect(changed.stdout).to.match(/: record \d+ in .*jsonl was changed, or does not follow the record before it\n$/);
    writeFileSync(path, 'not a record\n');
    const damaged = await verify();
    expect([damaged.code, damaged.stdout]).to.deep.equal([
      1,
      `${environmentId}: line 1 of ${path} is not an audit record\n`,
    ]);
    writeFileSync(path, whole);
    expect((await verify()).code).to.equal(0);
  });

  it('finds an archive that was moved to the directory given as an option', async () => {
    const moved = join(folder.path, 'moved');
    cpSync(join(dataDir, 'audit-archive'), moved, { recursive: true });
    renameSync(join(dataDir, 'audit-archive'), join(dataDir, 'away'));
    const missing = await verify();
    expect(missing.code).to.equal(1);
    expect(missing.stdout).to.match(/: records 1 to \d+ are not in /);
    expect((await verify('--archive', moved)).code).to.equal(0);
    expect((await verify('--nothing')).code).to.equal(2);
  });
});
