import { existsSync, readFileSync } from 'node:fs';
import Database from 'better-sqlite3';
import { expect } from 'chai';
import { createAccount } from '../support/accounts.ts';
import { selectRows } from '../support/database-file.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';

describe('the storage of a server while other processes use it', () => {
  let server: TestServer;
  let other: InstanceType<typeof Database>;

  before(async () => {
    server = await startTestServer();
    other = new Database(server.parts.config.databaseFile, { timeout: 0 });
  });
  after(async () => {
    other.close();
    await server.stop();
  });

  const metric = async (name: string) => {
    const text = await server.parts.metrics.registry.metrics();
    return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
  };
  const until = async (condition: () => Promise<boolean> | boolean) => {
    while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 20));
  };

  it('F1: a deletion during a read delays no request, is visible in the metrics, and is completed after the read', async () => {
    const { id } = await createAccount(server, { identifier: 'to-be-deleted' });
    const file = server.parts.config.databaseFile;
    const select = 'select credentials_sealed as value from accounts where id = ?';
    const [row] = selectRows(file, select, id) as { value: Buffer }[];
    const mark = row?.value.subarray(-30) ?? Buffer.alloc(0);
    const onDisk = () =>
      ['', '-wal'].some((suffix) => existsSync(file + suffix) && readFileSync(file + suffix).includes(mark));
    expect(await metric('valetkey_storage_scrub_pending_seconds')).to.equal(0);

    other.exec('begin');
    other.prepare('select count(*) from accounts').get();
    expect((await server.call('POST', '/api/v1/connected_accounts:delete', { body: { id } })).status).to.equal(200);
    await until(() => server.logs.some((line) => line.includes('deleted data is still in the database files')));
    expect(await metric('valetkey_storage_scrub_pending_seconds')).to.be.greaterThan(0);
    expect(await metric('valetkey_storage_log_bytes')).to.be.greaterThan(0);
    expect(mark.length).to.equal(30);
    expect(onDisk()).to.equal(true);
    const { id: next } = await createAccount(server, { identifier: 'created-meanwhile' });
    expect((await server.call('POST', '/api/v1/connected_accounts:delete', { body: { id: next } })).status).to.equal(
      200,
    );

    other.exec('commit');
    await until(async () => (await metric('valetkey_storage_scrub_pending_seconds')) === 0);
    expect(onDisk()).to.equal(false);
    expect(server.logs.join('')).to.include('deleted data was removed from the database files');
  });

  it('F1: a request that writes waits for the lock of another process while others are served', async () => {
    other.exec('begin immediate');
    let isDone = false;
    const creation = createAccount(server, { identifier: 'waits-for-the-lock' }).finally(() => {
      isDone = true;
    });
    for (let i = 0; i < 20; i++) expect((await server.call('GET', '/api/v1/connected_accounts')).status).to.equal(200);
    expect(isDone).to.equal(false);
    other.exec('commit');
    expect((await creation).id).to.match(/^ca_/);
  });
});
