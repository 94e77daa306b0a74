import { expect } from 'chai';
import { openStore } from '../../../db/open-store.ts';
import { hostsOf } from '../../../db/postgres/hosts.ts';
import { openHost, openSession } from '../../../db/postgres/session.ts';
import { readState } from '../../../db/postgres/state.ts';
import type { Store } from '../../../db/store.ts';
import { type Cluster, type Standby, startCluster } from '../../../scripts/postgres/cluster.ts';
import { createTemplate, isAvailable, TEMPLATE } from '../../support/postgres/databases.ts';
import { account, addConnection, addEnvironment, connection, freshIds, NOW } from '../support.ts';

describe('the hosts of DATABASE_URL', () => {
  it('are separate addresses with the same user, database and parameters', () => {
    expect(
      hostsOf('postgres://me:p%40ss@one:5433,two,[::1]:7/db?sslmode=require&target_session_attrs=read-write'),
    ).to.deep.equal([
      'postgres://me:p%40ss@one:5433/db?sslmode=require',
      'postgres://me:p%40ss@two/db?sslmode=require',
      'postgres://me:p%40ss@[::1]:7/db?sslmode=require',
    ]);
    expect(hostsOf('postgresql://one/db')).to.deep.equal(['postgresql://one/db']);
    expect(hostsOf('postgres://me@localhost/db?host=/a,/b&port=1,2')).to.deep.equal([
      'postgres://me@localhost/db?host=%2Fa&port=1',
      'postgres://me@localhost/db?host=%2Fb&port=2',
    ]);
  });

  it('have one port, or one each', () => {
    expect(hostsOf('postgres:///db?host=/a,/b&port=1')).to.have.length(2);
    expect(() => hostsOf('postgres:///db?host=/a,/b,/c&port=1,2')).to.throw('one for each of 3 hosts');
  });

  it('must require a host that accepts writes', () => {
    expect(() => hostsOf('postgres://one,two/db?target_session_attrs=any')).to.throw('must be read-write');
    expect(() => hostsOf('postgres:/one')).to.throw('DATABASE_URL is invalid');
  });
});

describe('a primary and a standby', () => {
  if (!isAvailable()) return;
  let primary: Cluster;
  let standby: Standby;
  let store: Store | undefined;
  const newId = freshIds();
  const both = () => `postgres://postgres@localhost/${TEMPLATE}?host=${standby.socket},${primary.socket}`;

  beforeEach(async () => {
    primary = startCluster();
    await createTemplate(primary.socket);
    standby = primary.startStandby();
  });
  afterEach(async () => {
    await store?.close();
    store = undefined;
    standby.stop();
    primary.stop();
  });

  async function write(env: Awaited<ReturnType<typeof addEnvironment>>, connectionId: string): Promise<string | null> {
    const row = account(newId, connectionId);
    try {
      await (store as Store).write((tx) => tx.accounts.insert(env, row));
      return row.id;
    } catch {
      return null;
    }
  }

  it('are distinguished, and the promoted standby is used after the primary has failed', async () => {
    const only = await openStore({ location: standby.url(TEMPLATE), now: () => NOW }).catch((error) => error);
    expect(only).to.include({ code: 'STANDBY' });
    const asked = await readState(
      async (statement) => (await openSession(standby.url(TEMPLATE))).query(statement),
      undefined,
    );
    expect(asked).to.deep.equal({ engine: 'postgres', role: 'standby', replica: null, standbys: [] });
    store = await openStore({ location: both(), now: () => NOW });
    const env = await addEnvironment(store, newId, 'localhost');
    const connectionId = await addConnection(store, env, connection(newId));
    expect(await write(env, connectionId)).to.be.a('string');
    expect(await store.state()).to.include({ engine: 'postgres', role: 'primary', replica: null });
    primary.kill();
    expect((await store.state()).role).to.equal(null);
    expect(await write(env, connectionId)).to.equal(null);
    standby.promote();
    let id: string | null = null;
    while (id === null) id = await write(env, connectionId);
    expect((await store.read.accounts.shown(env, id))?.id).to.equal(id);
    expect(await store.read.audit.verifyChain(env)).to.have.property('intact', true);
  });

  it('share the reads of lists, and the primary serves them alone while the standby is down', async () => {
    const failures: string[] = [];
    const watch = { report: (_: unknown, what: string) => failures.push(what) };
    const connections = { replica: standby.url(TEMPLATE) };
    store = await openStore({ location: primary.url(TEMPLATE), now: () => NOW, connections, watch });
    const env = await addEnvironment(store, newId, 'localhost');
    const connectionId = await addConnection(store, env, connection(newId));
    const list = async () => (await (store as Store).read.accounts.list(env, {}, { size: 10 })).total;
    await write(env, connectionId);
    const direct = await openHost(standby.url(TEMPLATE), { mayBeStandby: true });
    const replicated = async () => (await direct.query({ text: 'select count(*) from accounts' })).rows[0]?.[0];
    while ((await replicated()) !== 1) await turn();
    await direct.close();
    standby.replay(false);
    await write(env, connectionId);
    while ((await list()) !== 1) await turn();
    const [newest] = (await store.read.accounts.list(env, {}, { size: 1 })).rows;
    const missing = (await write(env, connectionId)) as string;
    const page = await store.read.accounts.list(env, {}, { size: 1, after: missing });
    expect(page.rows, 'the primary knows the row of the cursor').to.have.length(1);
    expect(page.rows[0]?.id).not.to.equal(newest?.id);
    standby.replay(true);
    while ((await list()) !== 3) await turn();
    expect(failures).to.deep.equal([]);
    const { replica, standbys } = await store.state();
    expect(replica).to.include({ isUsed: true }).and.have.property('lagMs').a('number');
    expect(standbys.map(({ name }) => name)).to.deep.equal(['walreceiver']);
    standby.kill();
    expect(await list()).to.equal(3);
    expect((await store.state()).replica).to.deep.equal({ isUsed: false, lagMs: null });
    await write(env, connectionId);
    expect(await list(), 'from the primary').to.equal(4);
    expect(failures[0]).to.include('lists are read from the primary');
    standby.restart();
  });
});

const turn = () => new Promise((resolve) => setImmediate(resolve));
