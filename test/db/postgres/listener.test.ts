import { expect } from 'chai';
import { openStore } from '../../../db/open-store.ts';
import type { Store } from '../../../db/store.ts';
import { addressOf } from '../../../scripts/postgres/cluster.ts';
import { createDatabase, dropDatabase, isAvailable, runIn, socketOfTests } from '../../support/postgres/databases.ts';
import { type Network, startNetwork } from '../../support/postgres/network.ts';
import { type Pooler, startPooler } from '../../support/postgres/pgbouncer.ts';
import { addEnvironment, freshIds, NOW } from '../support.ts';

const CHANGE = `update environments set settings = settings`;

describe('notifications of changed settings', () => {
  if (!isAvailable()) return;
  let pooler: Pooler;
  let network: Network;
  let name: string;
  let stores: Store[];
  let reports: string[];

  before(async () => {
    pooler = await startPooler(socketOfTests());
    network = await startNetwork(socketOfTests());
  });
  after(async () => {
    await network.close();
    await pooler.stop();
  });
  beforeEach(async () => {
    name = createDatabase();
    stores = [];
    reports = [];
    const store = await open(addressOf(socketOfTests(), name));
    await addEnvironment(store, freshIds(), 'localhost');
  });
  afterEach(async () => {
    await Promise.all(stores.map((store) => store.close()));
    dropDatabase(name);
  });

  async function open(location: string, connections: { prepare?: boolean; listen?: string } = {}): Promise<Store> {
    const report = (error: unknown, what: string) => reports.push(`${what}: ${error}`);
    const store = await openStore({ location, now: () => NOW, connections, watch: { report } });
    stores.push(store);
    return store;
  }

  async function until(holds: () => boolean): Promise<void> {
    while (!holds()) await new Promise((resolve) => setImmediate(resolve));
  }
  /** Opens a second store, and waits until it listens for changes of settings. */
  async function openListening(location: string, listen?: string): Promise<Store> {
    const [first] = stores as [Store];
    await until(() => first.settingsVersion() > 0);
    const store = await open(location, { prepare: false, ...(listen && { listen }) });
    await until(() => store.settingsVersion() === 1);
    return store;
  }

  it('are sent for each kind of change, also by a program that does not know them, and for no other change', async () => {
    const store = await openListening(addressOf(socketOfTests(), name));
    for (const change of [
      CHANGE,
      "update environments set base_url = 'http://localhost:1'",
      "insert into environment_hosts (host, environment_id) select 'other.example', id from environments",
      'delete from webhook_endpoints',
    ]) {
      const before = store.settingsVersion();
      runIn(name, change);
      await until(() => store.settingsVersion() > before);
    }
    const before = store.settingsVersion();
    runIn(name, 'update environments set created_at = created_at');
    runIn(name, `begin; ${CHANGE}; rollback`);
    runIn(name, CHANGE);
    await until(() => store.settingsVersion() > before);
    expect(store.settingsVersion()).to.equal(before + 1);
  });

  it("pass a connection pool if the server's own address is configured", async () => {
    const store = await openListening(addressOf(pooler.socket, name), addressOf(socketOfTests(), name));
    runIn(name, CHANGE);
    await until(() => store.settingsVersion() === 2);
    expect(reports).to.deep.equal([]);
  });

  it('do not pass a connection pool, which is reported once', async () => {
    const store = await open(addressOf(pooler.socket, name), { prepare: false });
    await until(() => reports.length > 0);
    expect(reports).to.have.length(1);
    expect(reports[0]).to.include('a connection pool is between this server and PostgreSQL');
    runIn(name, CHANGE);
    expect(store.settingsVersion()).to.equal(0);
  });

  it('that were sent while the connection was lost count as missed after it is restored', async () => {
    const store = await openListening(addressOf(socketOfTests(), name), network.url(name));
    network.cut();
    runIn(name, CHANGE);
    await until(() => store.settingsVersion() === 2);
    runIn(name, CHANGE);
    await until(() => store.settingsVersion() === 3);
  });
});
