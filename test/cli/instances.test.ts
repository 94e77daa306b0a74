import { readdirSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { expect } from 'chai';
import { request } from 'undici';
import { runCommand, startChildServer } from '../support/child-server.ts';
import { tempDir } from '../support/temp-dir.ts';

describe('F8: a second server', () => {
  let folder: ReturnType<typeof tempDir>;

  beforeEach(() => {
    folder = tempDir();
  });
  afterEach(() => folder.remove());

  it('touches no data when its port is in use', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => other.once('listening', resolve));
    const PORT = String((other.address() as AddressInfo).port);
    const { code, stderr } = await runCommand(['serve'], { DATA_DIR: folder.path, PORT, BASE_URL: 'http://localhost' });
    other.close();
    expect(code).to.equal(1);
    expect(stderr).to.include(`${PORT} is in use`);
    expect(readdirSync(folder.path)).to.deep.equal([]);
  });

  it('waits for the one before it to end, with a message, and serves those who have asked meanwhile', async () => {
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
