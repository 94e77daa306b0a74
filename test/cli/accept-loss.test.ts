import { copyFileSync, existsSync, mkdirSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { readClaims } from '../../db/sqlite/mark-file.ts';
import { createAccount } from '../support/accounts.ts';
import { runCommand } from '../support/child-server.ts';
import { startTestServer } from '../support/server.ts';
import { tempDir } from '../support/temp-dir.ts';

describe('a server whose log was damaged (F15)', () => {
  const folder = tempDir();
  const crashed = join(folder.path, 'crashed');
  const env = { DATA_DIR: crashed };

  before(async () => {
    const server = await startTestServer({ dataDir: join(folder.path, 'data') });
    for (let i = 0; i < 20; i++) await createAccount(server, { identifier: `account-${i}` });
    const file = server.parts.config.databaseFile;
    while (!readClaims(file).some(({ totals }) => totals['accounts'] === 20)) {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    mkdirSync(crashed);
    for (const name of ['keys', 'valetkey.db', 'valetkey.db-wal', 'valetkey.db-mark']) {
      copyFileSync(join(folder.path, 'data', name), join(crashed, name));
    }
    await server.stop();
    const log = join(crashed, 'valetkey.db-wal');
    truncateSync(log, Math.floor(statSync(log).size / 2));
  });
  after(() => folder.remove());

  const start = async () => {
    const server = await startTestServer({ dataDir: crashed });
    const { body } = await server.call('GET', '/api/v1/connected_accounts');
    await server.stop();
    return body.total_size as number;
  };
  const refusal = () =>
    start().then(
      () => '',
      (error: Error) => error.message,
    );

  it('does not start, and reports what is missing and what to do', async () => {
    const message = await refusal();
    expect(message).to.match(/lacks data that was stored durably: \d+ accounts, \d+ audit records/);
    expect(message).to.include('valetkey accept-loss').and.to.include('valetkey restore');
  });

  it('cannot be opened by the other commands either', async () => {
    const { code, stderr } = await runCommand(['keys', 'list'], env);
    expect(code).to.equal(1);
    expect(stderr).to.match(/^valetkey keys list: the database .* lacks data that was stored durably/);
    expect(await refusal()).not.to.equal('');
  });

  it('starts with the remaining data once the loss was accepted, and accepts only that loss', async () => {
    const { code, stdout } = await runCommand(['accept-loss'], env);
    expect(code).to.equal(0);
    expect(stdout).to.match(/^Accepted as lost: \d+ accounts, /);
    expect(await start()).to.be.within(1, 19);
    expect(existsSync(join(crashed, 'valetkey.db-mark'))).to.equal(true);
    expect((await runCommand(['accept-loss'], env)).stdout).to.match(/^Nothing is missing from /);
  });
});
