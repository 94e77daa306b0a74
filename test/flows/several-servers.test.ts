import { expect } from 'chai';
import { startTestServer, type TestServer } from '../support/server.ts';
import { tempDir } from '../support/temp-dir.ts';
import { databaseOfDirectory, isOnServer } from '../support/test-engine.ts';

const ACCOUNTS = '/api/v1/connected_accounts';

describe('several servers over one database', () => {
  if (!isOnServer()) return;
  const folder = tempDir();
  let servers: TestServer[];

  before(async () => {
    servers = [await startTestServer({ dataDir: folder.path }), await startTestServer({ dataDir: folder.path })];
  });

  after(async () => {
    await Promise.all(servers.map((server) => server.stop()));
    databaseOfDirectory(folder.path).remove();
    folder.remove();
  });

  const account = (identifier: string) => ({
    connector: 'http',
    user_id: 'ada',
    identifier,
    connected_account: {
      api_config: { base_url: 'https://api.example.com' },
      authorization_details: { static_auth: { details: { api_key: 'a-key-of-this-test' } } },
    },
  });
  const any = (place: number) => servers[place % servers.length] as TestServer;
  const audit = async () => {
    const { store, environmentOf } = any(0).parts;
    return await store.read.audit.verifyChain((await environmentOf('localhost')).id);
  };

  it('decrypt in one server what another one has encrypted', async () => {
    const created = await any(0).call('POST', ACCOUNTS, { body: account('shared') });
    const { id } = created.body.connected_account;
    const read = await any(1).call('GET', `${ACCOUNTS}/auth?id=${id}`);
    expect(read.status).to.equal(200);
    expect(read.text).to.include('a-key-of-this-test');
  });

  it('accept a token in one server that another one has issued', async () => {
    const token = any(0).token('accounts:read');
    expect((await any(1).call('GET', ACCOUNTS, { token })).status).to.equal(200);
    expect((await any(1).call('GET', ACCOUNTS, { token: `${token}x` })).status, 'the control').to.equal(401);
  });

  it('create one account for many equal requests to all servers, and keep the audit log valid', async () => {
    const requests = Array.from({ length: 30 }, (_, place) =>
      any(place).call('POST', ACCOUNTS, { body: account('one of many') }),
    );
    const statuses = (await Promise.all(requests)).map(({ status }) => status).sort();
    expect(statuses).to.deep.equal([201, ...Array(29).fill(409)]);
    expect(await audit()).to.have.property('intact', true);
  });

  it('create each of many accounts, and count them exactly', async () => {
    const before = (await any(0).call('GET', `${ACCOUNTS}?page_size=1`)).body.total_size;
    const requests = Array.from({ length: 40 }, (_, place) =>
      any(place).call('POST', ACCOUNTS, { body: account(`many ${place}`) }),
    );
    const statuses = (await Promise.all(requests)).map(({ status }) => status);
    expect(statuses).to.deep.equal(Array(40).fill(201));
    expect((await any(1).call('GET', `${ACCOUNTS}?page_size=1`)).body.total_size).to.equal(before + 40);
    expect(await audit()).to.have.property('intact', true);
  });

  it('execute a request once whose idempotency key is sent to all servers', async () => {
    const headers = { 'idempotency-key': 'same-everywhere' };
    const body = account('once');
    const requests = Array.from({ length: 10 }, (_, place) => any(place).call('POST', ACCOUNTS, { body, headers }));
    const statuses = new Set((await Promise.all(requests)).map(({ status }) => status));
    expect([...statuses].filter((status) => status !== 201 && status !== 409)).to.deep.equal([]);
    const again = await any(1).call('POST', ACCOUNTS, { body, headers });
    expect(again.status).to.equal(201);
    expect((await any(0).call('GET', `${ACCOUNTS}?identifier=once`)).body.total_size).to.equal(1);
  });

  it('use a setting that another server has changed before the cached copy expires', async () => {
    // The clock of this server is stopped, so its cached copies never expire.
    const at = Date.now();
    const still = await startTestServer({ dataDir: folder.path, overrides: { now: () => at } });
    try {
      const { environmentOf } = still.parts;
      const nameInIt = async () => (await environmentOf('localhost')).settings.applicationName;
      expect(await nameInIt()).to.not.equal('Renamed');
      const body = { application_name: 'Renamed' };
      expect((await any(0).call('PUT', '/api/v1/environment', { body })).status).to.equal(200);
      while ((await nameInIt()) !== 'Renamed') await new Promise((resolve) => setImmediate(resolve));
    } finally {
      await still.stop();
    }
  });

  it('fence a server that the others consider ended', async () => {
    const third = await startTestServer({ dataDir: folder.path });
    try {
      const { number } = third.parts.instance;
      await any(0).parts.store.write((tx) => tx.instances.remove(number));
      const refused = await third.call('POST', ACCOUNTS, { body: account('late') });
      expect(refused.status).to.equal(503);
      expect((await any(0).call('POST', ACCOUNTS, { body: account('late') })).status).to.equal(201);
    } finally {
      await third.stop();
    }
  });

  it('leave nothing unfinished after a server has stopped', async () => {
    const third = await startTestServer({ dataDir: folder.path });
    const before = (await any(0).parts.store.read.instances.list()).length;
    expect(third.parts.liveInstances()).to.equal(before);
    await third.stop();
    expect((await any(0).parts.store.read.instances.list()).length).to.equal(before - 1);
  });
});
