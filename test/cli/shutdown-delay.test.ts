import { expect } from 'chai';
import { type ChildServer, runCommand, startChildServer } from '../support/child-server.ts';
import { CLIENT_ID, CLIENT_SECRET } from '../support/server.ts';
import { tempDir } from '../support/temp-dir.ts';
import { databaseOfDirectory, isOnServer } from '../support/test-engine.ts';

describe('a server that receives a stop signal', () => {
  const folder = tempDir();
  const database = databaseOfDirectory(folder.path);
  let server: ChildServer;

  after(() => {
    database.remove();
    folder.remove();
  });

  const settings = { DATA_DIR: folder.path, METRICS_PORT: '0', BASE_URL: 'http://localhost', ...database.env };

  before(async () => {
    if (!isOnServer()) return;
    const client = { VALETKEY_CLIENT_ID: CLIENT_ID, VALETKEY_CLIENT_SECRET: CLIENT_SECRET };
    const init = await runCommand(['init'], { ...settings, ...client });
    expect(init.code, init.stderr).to.equal(0);
  });

  async function start(delay: string): Promise<void> {
    server = await startChildServer({ ...settings, VALETKEY_SHUTDOWN_DELAY: delay });
  }

  it('exits with 0 immediately when no delay is set', async () => {
    await start('0');
    expect(await server.stop()).to.deep.equal({ code: 0, signal: null });
  });

  it('is not ready during the delay, but responds to requests', async () => {
    await start('60');
    expect((await server.call('GET', '/readyz')).status).to.equal(200);
    server.child.kill('SIGTERM');
    let ready = await server.call('GET', '/readyz');
    while (ready.status === 200) ready = await server.call('GET', '/readyz');
    expect(ready.status).to.equal(503);
    expect(ready.body).to.deep.include({ status: 'not_ready', checks: { database: 'ok', keys: 'ok' } });
    expect((await server.call('GET', '/healthz')).status).to.equal(200);
    expect((await server.call('GET', '/api/v1/providers')).status).to.equal(200);
    await server.stop('SIGKILL');
  });
});
