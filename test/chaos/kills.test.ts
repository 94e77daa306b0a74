import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { creation, runCall } from '../crash/load.ts';
import { Random } from '../fuzz/random.ts';
import { isAvailable } from '../support/postgres/databases.ts';
import type { TestResponse } from '../support/server.ts';
import { type ChaosServer, type ChaosWorld, startWorld } from './world.ts';

/** `make chaos` runs the long form. */
const KILLS = Number(process.env['CHAOS_KILLS'] ?? 4);
const SEED = Number(process.env['CHAOS_SEED'] ?? Math.floor(Math.random() * 2 ** 32));
const SERVERS = 3;
const CLIENTS = 8;
/** A request is repeated for this long: longer than servers take to free what a killed one was doing. */
const PATIENCE_MS = 120_000;
const ACCOUNTS = '/api/v1/connected_accounts';

describe(`processes and a primary that are killed ${KILLS} times under mixed load, seed ${SEED}`, function () {
  if (!isAvailable()) return;
  this.timeout(180_000 + KILLS * 30_000);
  const random = new Random(SEED);
  const present = new Set<string>();
  const deleted = new Set<string>();
  const outcomes = { created: 0, deleted: 0, called: 0, unknown: 0 };
  const nonces = new Map<string, 'done' | 'unknown'>();
  const faults: string[] = [];
  let world: ChaosWorld;
  let servers: ChaosServer[];
  let scene: { connector: string; toolAccount: string };
  let made = 0;
  let isEnding = false;

  before(async () => {
    world = await startWorld();
    servers = [];
    for (let place = 0; place < SERVERS; place++) servers.push(await world.start());
    scene = await world.prepare(servers[0] as ChaosServer);
  });
  after(() => world.end());

  /** Sends a request to any server, and again with the same key to another one, until a response says what became of it. */
  async function untilKnown(send: (server: ChaosServer) => Promise<TestResponse>): Promise<TestResponse> {
    for (const until = performance.now() + PATIENCE_MS; ; ) {
      const server = servers[Math.floor(Math.random() * servers.length)] as ChaosServer;
      const answer = await Promise.race([send(server).catch(() => undefined), pause(30_000).then(() => undefined)]);
      const isOpen = !answer || answer.status === 503 || answer.body?.code === 'IDEMPOTENCY_KEY_IN_USE';
      if (answer && !isOpen) return answer;
      if (performance.now() > until) throw new Error(`no final response: ${answer?.text}`);
      await pause(200);
    }
  }

  async function create(): Promise<void> {
    const identifier = `chaos-${++made}`;
    const answer = await untilKnown((server) =>
      server.call('POST', ACCOUNTS, creation(scene.connector, identifier, identifier)),
    );
    if (answer.status !== 201) return void faults.push(`create: ${answer.text}`);
    outcomes.created++;
    present.add(answer.body.connected_account.id);
  }

  async function remove(): Promise<void> {
    const [id] = present;
    if (id === undefined) return;
    present.delete(id);
    const answer = await untilKnown((server) => server.call('POST', `${ACCOUNTS}:delete`, { body: { id } }));
    // Without a response to the first request, the account may be deleted already.
    if (answer.status !== 200 && answer.status !== 404) return void faults.push(`delete: ${answer.text}`);
    outcomes.deleted++;
    deleted.add(id);
  }

  async function call(): Promise<void> {
    const nonce = `effect-${++made}`;
    const entry = { nonce, accountId: scene.toolAccount, key: nonce };
    const answer = await untilKnown((server) => runCall(server, entry));
    if (answer.status === 200) nonces.set(nonce, 'done');
    else if (answer.body.code === 'EXECUTION_OUTCOME_UNKNOWN') nonces.set(nonce, 'unknown');
    else return void faults.push(`call: ${answer.text}`);
    if (answer.status === 200) outcomes.called++;
    else outcomes.unknown++;
  }

  const work = [create, create, call, call, remove];

  /** Does one kind of harm, and repairs it. */
  async function harm(): Promise<string> {
    const place = random.below(SERVERS);
    const server = servers[place] as ChaosServer;
    switch (random.pick(['server', 'server', 'primary', 'backends', 'frozen'])) {
      case 'server':
        await server.stop('SIGKILL');
        servers[place] = await world.start();
        return 'a server was killed';
      case 'primary':
        world.cluster.kill();
        world.cluster.restart();
        return 'the primary was killed';
      case 'backends':
        server.network.cut();
        return 'all connections of a server were cut';
      default:
        server.network.freeze();
        await pause(500 + random.below(1500));
        server.network.thaw();
        return 'the network of a server was frozen';
    }
  }

  it('lose nothing that was acknowledged, do nothing twice, and leave the audit log whole', async () => {
    const clients = Array.from({ length: CLIENTS }, async (_, place) => {
      for (let turn = place; !isEnding; turn++) await (work[turn % work.length] as () => Promise<void>)();
    });
    const done: Record<string, number> = {};
    for (let kill = 1; kill <= KILLS && faults.length === 0; kill++) {
      const before = outcomes.created;
      const what = await harm();
      done[what] = (done[what] ?? 0) + 1;
      while (outcomes.created < before + 5 && faults.length === 0) await pause(50);
      if (kill % 25 === 0) console.log(`    ${kill} kills: ${JSON.stringify({ ...outcomes, ...done })}`);
    }
    isEnding = true;
    await Promise.all(clients);
    console.log(`    ${JSON.stringify({ ...outcomes, ...done })}`);
    expect(faults).to.deep.equal([]);
    const server = servers[0] as ChaosServer;
    const total = (await server.call('GET', `${ACCOUNTS}?page_size=1`)).body.total_size;
    expect(total, 'accounts, and the one for calls').to.equal(present.size + 1);
    for (const id of present)
      expect((await server.call('GET', `${ACCOUNTS}/details?id=${id}`)).status, id).to.equal(200);
    for (const id of deleted)
      expect((await server.call('GET', `${ACCOUNTS}/details?id=${id}`)).status, id).to.equal(404);
    for (const [nonce, outcome] of nonces) {
      const times = world.counterpart.effects.get(nonce) ?? 0;
      if (outcome === 'done') expect(times, nonce).to.equal(1);
      else expect(times, nonce).to.be.at.most(1);
    }
    expect(await world.verifyAudit()).to.include('is complete');
  });
});
