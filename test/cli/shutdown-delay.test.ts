import { expect } from 'chai';
import { type ChildServer, startChildServer } from '../support/child-server.ts';
import { databaseOfDirectory } from '../support/engine-of-tests.ts';
import { tempDir } from '../support/temp-dir.ts';

describe('a server that is asked to stop', () => {
  const folder = tempDir();
  const database = databaseOfDirectory(folder.path);
  let server: ChildServer;

  after(() => {
    database.remove();
    folder.remove();
  });

  async function start(delay: string): Promise<void> {
    const env = { DATA_DIR: folder.path, METRICS_PORT: '0', VALETKEY_SHUTDOWN_DELAY: delay, ...database.env };
    server = await startChildServer(env);
  }

  it('ends with 0 immediately without a delay', async () => {
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
