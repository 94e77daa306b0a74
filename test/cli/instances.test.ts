import { cpSync, linkSync, mkdirSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { request } from 'undici';
import { runCommand, startChildServer } from '../support/child-server.ts';
import { tempDir } from '../support/temp-dir.ts';

describe('F8: a second server on the same database', () => {
  let folder: ReturnType<typeof tempDir>;

  beforeEach(() => {
    folder = tempDir();
  });
  afterEach(() => folder.remove());

  it('does not touch the data when its port is in use', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => other.once('listening', resolve));
    const PORT = String((other.address() as AddressInfo).port);
    const { code, stderr } = await runCommand(['serve'], { DATA_DIR: folder.path, PORT, BASE_URL: 'http://localhost' });
    other.close();
    expect(code).to.equal(1);
    expect(stderr).to.include(`${PORT} is in use`);
    expect(readdirSync(folder.path)).to.deep.equal([]);
  });

  it('is detected when it opens the database under another path', async () => {
    const first = await startChildServer({ DATA_DIR: folder.path });
    const database = join(folder.path, 'valetkey.db');
    const other = join(folder.path, 'other');
    mkdirSync(other);
    cpSync(join(folder.path, 'keys'), join(other, 'keys'));
    const errorOf = async (name: string) => {
      const env = { DATA_DIR: other, DATABASE_URL: join(other, name), PORT: '0', BASE_URL: 'http://localhost' };
      return (await runCommand(['serve'], env)).stderr;
    };
    linkSync(database, join(other, 'hard.db'));
    expect(await errorOf('hard.db')).to.include('has 2 names (hard links)');
    rmSync(join(other, 'hard.db'));
    symlinkSync(database, join(other, 'soft.db'));
    await first.stop();
    const second = await startChildServer({ DATA_DIR: other, DATABASE_URL: join(other, 'soft.db') });
    expect(readdirSync(folder.path)).to.include('valetkey.db-wal');
    expect(readdirSync(other).filter((name) => name.startsWith('soft'))).to.deep.equal(['soft.db']);
    await second.stop();
  });

  it('waits with a message until the first one ends, and then serves the requests that arrived meanwhile', async () => {
    const first = await startChildServer({ DATA_DIR: folder.path });
    // Below the range of ports that the operating system assigns, so that no other test uses it.
    const port = 20_000 + (process.pid % 10_000);
    let asked: Promise<number> | undefined;
    const second = await startChildServer(
      { DATA_DIR: folder.path, PORT: String(port) },
      {
        onLog: (line) => {
          if (!line.includes('another server uses the database')) return;
          asked = request(`http://127.0.0.1:${port}/healthz`).then(({ statusCode }) => statusCode);
          void first.stop();
        },
      },
    );
    expect(await asked).to.equal(200);
    expect((await second.call('GET', '/api/v1/connected_accounts')).status).to.equal(200);
    expect((await second.stop()).code).to.equal(0);
  });
});
