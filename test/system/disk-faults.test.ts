import { existsSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { type ChildServer, startChildServer } from '../support/child-server.ts';
import { injectFaults, makeDisk, type SmallDisk, whyNoDisk } from './support/small-disk.ts';

const ACCOUNTS = '/api/v1/connected_accounts';

describe('a disk that fails (F2, F3, F11)', () => {
  let disk: SmallDisk;
  let server: ChildServer;
  let acknowledged: string[];
  let made = 0;

  before(function () {
    const reason = whyNoDisk();
    if (reason === null) return;
    console.log(`    skipped: ${reason}`);
    this.skip();
  });
  beforeEach(async () => {
    disk = makeDisk();
    acknowledged = [];
    server = await start();
    for (let i = 0; i < 10; i++) expect(await create()).to.equal(201);
    expect(await readiness(), 'the control').to.equal(200);
  });
  afterEach(async () => {
    await server.stop('SIGKILL');
    disk.remove();
  });

  const start = () => startChildServer({ DATA_DIR: `${disk.path}/data`, METRICS_PORT: '0' });
  const readiness = async () => (await server.call('GET', '/readyz')).status;
  const said = (text: string) => server.logs.some((line) => line.includes(text));
  const until = async (condition: () => boolean | Promise<boolean>) => {
    while (!(await condition())) await pause(50);
  };

  /** Creates an account, and expects success or the error of a failing storage. @returns the status */
  async function create(): Promise<number> {
    const authorization_details = { static_auth: { details: { token: 'ghp_0123456789' } } };
    const connected_account = { authorization_details, api_config: { filler: 'x'.repeat(12_000) } };
    const body = { connector: 'github', user_id: 'u', identifier: `account-${++made}`, connected_account };
    const answer = await server.call('POST', ACCOUNTS, { body });
    if (answer.status === 201) acknowledged.push(answer.body.connected_account.id);
    else expect(answer.body).to.include({ status: 503, code: 'STORAGE_UNAVAILABLE' });
    return answer.status;
  }

  async function fillUp(): Promise<void> {
    disk.fill();
    for (let refused = 0; refused < 5; ) refused = (await create()) === 503 ? refused + 1 : 0;
  }

  /** Expects that the server reports that it cannot write, keeps running, and can still read. */
  async function expectUnready(): Promise<void> {
    expect(await readiness()).to.equal(503);
    await until(() => said('the database fails'));
    for (const id of acknowledged.slice(0, 3)) await server.call('POST', `${ACCOUNTS}:disconnect`, { body: { id } });
    expect((await server.call('GET', `${ACCOUNTS}?page_size=1`)).status).to.equal(200);
    expect(server.child.exitCode).to.equal(null);
  }

  async function expectAllThere(): Promise<void> {
    for (const id of acknowledged) {
      const answer = await server.call('GET', `${ACCOUNTS}/auth?id=${id}`);
      expect(answer.status, `${id}: ${answer.text}`).to.equal(200);
      expect(answer.text).to.include('ghp_0123456789');
    }
    expect(await create()).to.equal(201);
    expect(await readiness()).to.equal(200);
  }

  it('makes the server unready when it is full, and the server recovers without a restart when there is space again', async () => {
    await fillUp();
    expect(await readiness()).to.equal(503);
    await until(() => said('the database fails'));
    expect((await server.call('GET', `${ACCOUNTS}?page_size=1`)).status).to.equal(200);
    disk.free();
    await until(async () => (await readiness()) === 200);
    await expectAllThere();
  });

  it('loses nothing when it is full and the server is killed then', async () => {
    await fillUp();
    await server.stop('SIGKILL');
    disk.free();
    server = await start();
    await expectAllThere();
  });

  it('makes the server unready when it becomes read-only, and loses nothing', async () => {
    disk.makeReadOnly();
    expect(await create()).to.equal(503);
    await expectUnready();
    await server.stop();
    disk.repair();
    server = await start();
    await expectAllThere();
  });

  for (const [what, calls] of [
    ['writing', 'pwrite64'],
    ['cutting files', 'ftruncate'],
    ['reading and writing', 'pread64,pwrite64'],
  ] as const) {
    it(`leads to 503 at most when it fails with EIO while ${what}, and loses nothing`, async () => {
      const heal = await injectFaults(server.child.pid as number, calls, 'EIO');
      const statuses = [await create(), await create(), await create()];
      expect(server.child.exitCode).to.equal(null);
      // Only checkpoints truncate a file, so these requests may not cause that fault.
      if (calls !== 'ftruncate') expect(statuses).to.deep.equal([503, 503, 503]);
      if (calls !== 'ftruncate') expect(await readiness()).to.equal(503);
      await heal();
      await server.stop('SIGKILL');
      server = await start();
      await expectAllThere();
    });
  }

  it('makes the server refuse writes after a failed sync until it is restarted, and loses nothing', async () => {
    const heal = await injectFaults(server.child.pid as number, 'fsync,fdatasync', 'EIO');
    expect(await create()).to.equal(503);
    await heal();
    // The disk works again, but the data that it has lost is not known.
    expect(await create()).to.equal(503);
    await expectUnready();
    expect(existsSync(`${disk.path}/data/valetkey.db-unsynced`)).to.equal(true);
    await server.stop('SIGKILL');
    server = await start();
    expect(existsSync(`${disk.path}/data/valetkey.db-unsynced`)).to.equal(false);
    await expectAllThere();
  });
});
