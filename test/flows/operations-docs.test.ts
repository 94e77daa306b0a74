import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';
import { tempDir } from '../support/temp-dir.ts';
import { blocksOf, ROOT, readPage } from './markdown.ts';

const COMMANDS = blocksOf(readPage('docs/operations.md')).filter(({ language }) => language === 'sh');
const ACCOUNT = { connector: 'http', user_id: 'ada', identifier: 'ada' };
const TOKEN = 'a-token-that-must-survive';

describe('backup and restore as documented in docs/operations.md', () => {
  const [backup = '', restore = ''] = COMMANDS.filter(({ heading }) => heading === 'Backup and restore').map(
    ({ text }) => text,
  );
  const folder = tempDir();
  const host = join(folder.path, 'host');
  let server: TestServer;

  before(async () => {
    server = await startTestServer();
    const authorization_details = { static_auth: { details: { token: TOKEN } } };
    const api_config = { base_url: 'https://api.example.com' };
    const body = { ...ACCOUNT, connected_account: { api_config, authorization_details } };
    expect((await server.call('POST', '/api/v1/connected_accounts', { body })).status).to.equal(201);
    mkdirSync(host);
  });

  after(async () => {
    await server.stop();
    folder.remove();
  });

  it('copies the database of a running server, to a given name and to a name by time', async () => {
    await run(backup, server.dataDir);
    const names = readdirSync(join(folder.path, 'backups'));
    expect(names.filter((name) => /^(before-upgrade|valetkey-\d{8}T\d{6}Z)\.db$/.test(name))).to.have.length(2);
  });

  it('does not restore without the keys of that time, and reports why', async () => {
    const failure = await run(restore, host).catch((error: { stderr: string }) => error.stderr);
    expect(failure).to.match(/^valetkey restore: The key file /m);
  });

  it('restores to another host, where the server decrypts the credentials', async () => {
    copyFileSync(join(server.dataDir, 'keys'), join(host, 'keys'));
    await run(restore, host);
    const second = await startTestServer({ dataDir: host });
    const query = new URLSearchParams(ACCOUNT);
    const { body } = await second.call('GET', `/api/v1/connected_accounts/auth?${query}`);
    await second.stop();
    expect(body.connected_account.authorization_details.static_auth.details.token).to.equal(TOKEN);
  });

  /** Runs a code block of the page with the directories of this test. */
  async function run(block: string, dataDir: string): Promise<string> {
    const text = block.replaceAll(' backups', ` ${join(folder.path, 'backups')}`);
    const env = { ...process.env, DATA_DIR: dataDir };
    return (await promisify(execFile)('bash', ['--norc', '-euc', text], { cwd: ROOT, env })).stdout;
  }
});
