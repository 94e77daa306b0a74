import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { creation, runCall } from '../crash/load.ts';
import { createAccount } from '../support/accounts.ts';
import { runCommand } from '../support/child-server.ts';
import { createEmptyDatabase, dropDatabase, isAvailable, runIn, urlOf } from '../support/postgres/databases.ts';
import { tempDir } from '../support/temp-dir.ts';
import { type ChaosServer, type ChaosWorld, startWorld } from './world.ts';

const ACCOUNTS = '/api/v1/connected_accounts';
/** Ten minutes. */
const AHEAD = 600_000;

describe('failures of processes, networks and clocks on PostgreSQL', () => {
  if (!isAvailable()) return;
  let world: ChaosWorld;
  let first: ChaosServer;
  let second: ChaosServer;
  let scene: { connector: string; toolAccount: string };
  let made = 0;

  before(async () => {
    world = await startWorld();
    [first, second] = [await world.start(), await world.start()];
    scene = await world.prepare(first);
  });
  after(() => world.end());

  const create = (server: ChaosServer, key?: string, identifier = `one-${++made}`) =>
    server.call('POST', ACCOUNTS, creation(scene.connector, identifier, key));
  const statusOf = (server: ChaosServer) =>
    create(server)
      .then(({ status }) => status)
      .catch(() => 0);
  async function until(holds: () => Promise<boolean>): Promise<void> {
    while (!(await holds())) await pause(100);
  }

  it('uses new connections after all of them were terminated, without a wrong response', async () => {
    const running = Array.from({ length: 20 }, () => create(first));
    first.network.cut();
    const statuses = (await Promise.all(running)).map(({ status }) => status);
    expect(statuses.filter((status) => status !== 201 && status !== 503)).to.deep.equal([]);
    await until(async () => (await statusOf(first)) === 201);
    expect(await world.verifyAudit()).to.include('is complete');
  });

  it('rejects requests while the network is partitioned, and the process is fenced when it returns too late', async () => {
    const third = await world.start();
    const exited = once(third.child, 'exit');
    expect(await statusOf(third)).to.equal(201);
    third.network.freeze();
    const late = create(third, 'late', 'written-late')
      .then(({ status }) => status)
      .catch(() => 0);
    const before = await world.instances();
    await until(async () => (await world.instances()) === before - 1);
    third.network.thaw();
    expect(await late, 'a write of a server that others have taken for ended').to.be.oneOf([503, 0]);
    const found = await second.call('GET', `${ACCOUNTS}?identifier=written-late`);
    expect(found.body.total_size).to.equal(0);
    await exited;
    expect(third.errors() + third.logs.join('\n')).to.include('other servers assume that it has ended');
  });

  it('a second process continues while the first is paused, and the first is fenced when it resumes', async () => {
    const third = await world.start();
    const exited = once(third.child, 'exit');
    const before = await world.instances();
    third.child.kill('SIGSTOP');
    await until(async () => (await world.instances()) === before - 1);
    expect(await statusOf(second)).to.equal(201);
    third.child.kill('SIGCONT');
    await exited;
    expect(await statusOf(second)).to.equal(201);
  });

  it('a request with one idempotency key to two processes has one effect, and its outcome is known after one of them is killed', async () => {
    const third = await world.start();
    const { effects } = world.counterpart;
    const entry = { nonce: 'twice', accountId: scene.toolAccount, key: 'twice' };
    const both = await Promise.all([runCall(third, entry), runCall(second, entry)]);
    expect(both.map(({ status }) => status)).to.include(200);
    expect(effects.get('twice')).to.equal(1);
    expect((await runCall(second, entry)).status).to.equal(200);
    const cut = { ...entry, nonce: 'held', key: 'cut' };
    const hanging = runCall(third, cut).catch(() => undefined);
    await until(async () => effects.has('held'));
    third.child.kill('SIGKILL');
    await hanging;
    const seen = new Set<string>();
    await until(async () => {
      const { status, body } = await runCall(second, cut);
      seen.add(String(body.code ?? status));
      return body.code === 'EXECUTION_OUTCOME_UNKNOWN';
    });
    expect(
      [...seen].filter((code) => !['IDEMPOTENCY_KEY_IN_USE', 'EXECUTION_OUTCOME_UNKNOWN'].includes(code)),
    ).to.deep.equal([]);
    expect(effects.get('held')).to.equal(1);
  });

  it('completes all of many concurrent writes to one account', async () => {
    const { id } = await createAccount(first, { connector: 'github', identifier: 'crowded' });
    const update = (place: number) =>
      (place % 2 === 0 ? first : second).call('PUT', ACCOUNTS, {
        body: {
          id,
          connected_account: { authorization_details: { static_auth: { details: { token: `ghp_${place}` } } } },
        },
      });
    const statuses = (await Promise.all(Array.from({ length: 32 }, (_, place) => update(place)))).map(
      ({ status }) => status,
    );
    expect(new Set(statuses)).to.deep.equal(new Set([200]));
    expect(await world.verifyAudit()).to.include('is complete');
  });

  it('works with clocks that differ by ten minutes: no instance is removed, no idempotency key is released, tokens are accepted', async () => {
    const ahead = await world.start(AHEAD);
    const before = await world.instances();
    expect(await statusOf(ahead)).to.equal(201);
    const created = await create(first, 'with-a-key', 'with-a-key');
    const again = await create(ahead, 'with-a-key', 'with-a-key');
    expect([created.status, again.status]).to.deep.equal([201, 201]);
    expect(again.body.connected_account.id).to.equal(created.body.connected_account.id);
    const statusWith = async (issuer: ChaosServer, user: ChaosServer) => {
      const headers = { authorization: `Bearer ${await issuer.token()}` };
      return (await user.call('GET', ACCOUNTS, { headers })).status;
    };
    expect(await statusWith(first, ahead), 'a token that was issued earlier').to.equal(200);
    expect(await statusWith(ahead, first), 'a token of the server whose clock is ahead').to.equal(200);
    expect(await runCall(ahead, { nonce: 'ahead', accountId: scene.toolAccount, key: 'ahead' })).to.include({
      status: 200,
    });
    // Waits for two heartbeats of each server.
    await pause(11_000);
    expect(await world.instances()).to.equal(before);
    expect((await ahead.stop()).code).to.equal(0);
  });

  it('creates one environment and one set of keys when two operators run the initialisation concurrently', async () => {
    const name = createEmptyDatabase();
    const folder = tempDir();
    const env = { DATABASE_URL: urlOf(name), DATA_DIR: folder.path, BASE_URL: 'http://localhost' };
    await Promise.all([runCommand(['db', 'migrate'], env), runCommand(['db', 'migrate'], env)]);
    const results = await Promise.all([runCommand(['init'], env), runCommand(['init'], env)]);
    expect(results.map(({ code }) => code)).to.include(0);
    expect(runIn(name, 'select count(*) from environments').trim()).to.equal('1');
    expect(runIn(name, 'select count(*) from key_checks').trim()).to.equal('1');
    dropDatabase(name);
    folder.remove();
  });
});
