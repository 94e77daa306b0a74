import { execFile } from 'node:child_process';
import { copyFileSync } from 'node:fs';
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

describe('backup and restore as docs/operations.md says', () => {
  const [backup, check] = COMMANDS.filter(({ heading }) => heading === 'Backup and restore').map(({ text }) => text);
  const restored = tempDir();
  let server: TestServer;

  before(async () => {
    server = await startTestServer();
    const authorization_details = { static_auth: { details: { token: TOKEN } } };
    const api_config = { base_url: 'https://api.example.com' };
    const body = { ...ACCOUNT, connected_account: { api_config, authorization_details } };
    expect((await server.call('POST', '/api/v1/connected_accounts', { body })).status).to.equal(201);
  });

  after(async () => {
    await server.stop();
    restored.remove();
  });

  it('copies the database of a running server, and the copy opens with the keys of that time', async () => {
    await run(backup as string);
    expect((await run(check as string)).trim()).to.equal('ok');
    copyFileSync(join(server.dataDir, 'keys'), join(restored.path, 'keys'));
    const second = await startTestServer({ dataDir: restored.path });
    const query = new URLSearchParams(ACCOUNT);
    const { body } = await second.call('GET', `/api/v1/connected_accounts/auth?${query}`);
    await second.stop();
    expect(body.connected_account.authorization_details.static_auth.details.token).to.equal(TOKEN);
  });

  it('does not start on the copy without those keys, and says so', async () => {
    const keyless = tempDir();
    copyFileSync(join(restored.path, 'valetkey.db'), join(keyless.path, 'valetkey.db'));
    const failure = await startTestServer({ dataDir: keyless.path }).catch((error: Error) => error.message);
    keyless.remove();
    expect(failure).to.match(/^There is no key file at /);
  });

  /** Runs a block as it stands, with the paths of this test in the places of those on the page. */
  async function run(block: string): Promise<string> {
    const text = block
      .replaceAll('data/valetkey.db', join(server.dataDir, 'valetkey.db'))
      .replaceAll('backup.db', join(restored.path, 'valetkey.db'));
    return (await promisify(execFile)('bash', ['-euc', text], { cwd: ROOT })).stdout;
  }
});
