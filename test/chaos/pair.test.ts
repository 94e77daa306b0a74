import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { freePort } from '../../scripts/demo/process.ts';
import { checkServer } from '../crash/check.ts';
import { createLedger, type Ledger } from '../crash/ledger.ts';
import { type CrashingServer, runLoad, type Scene } from '../crash/load.ts';
import { prepareScene } from '../crash/scene.ts';
import { Random } from '../fuzz/random.ts';
import { amount } from '../support/amount.ts';
import { type Balancer, startBalancer } from '../support/balancer.ts';
import { type ChildServer, clientOf } from '../support/child-server.ts';
import { isAvailable } from '../support/postgres/databases.ts';
import { type ChaosWorld, startWorld } from './world.ts';

/**
 * Fewer kills than in the other tests of `make chaos`, because each round compares all data with the ledger, the test's
 * record of what was acknowledged.
 */
const KILLS = Math.ceil(amount(process.env['CHAOS_KILLS'], 40) / 20);
const SEED = amount(process.env['CHAOS_SEED'], Math.floor(Math.random() * 2 ** 32), 0);

describe(`two processes behind one address, one of which is killed ${KILLS} times under mixed load, seed ${SEED}`, function () {
  if (!isAvailable()) return;
  this.timeout(600_000 + KILLS * 120_000);
  const random = new Random(SEED);
  const ledger: Ledger = createLedger();
  let world: ChaosWorld;
  let ports: number[];
  let servers: ChildServer[];
  let balancer: Balancer;
  let scene: Scene;

  before(async () => {
    const port = await freePort();
    world = await startWorld({ settings: { BASE_URL: `http://127.0.0.1:${port}` } });
    ports = [await freePort(), await freePort()];
    servers = await Promise.all(ports.map((each) => world.startWith({ PORT: String(each) })));
    balancer = await startBalancer(ports, port);
    scene = await prepareScene(client(), { ledger, counterpart: world.counterpart });
  });
  after(async () => {
    await balancer?.close();
    await world.end();
  });

  const client = () => clientOf(balancer.origin, true);

  /** Runs the load until there are this many further acknowledgements, then calls `end`, which may stop a process. */
  async function loadUntil(acknowledgements: number, end?: () => Promise<unknown>): Promise<void> {
    const child = { killed: false };
    const target: CrashingServer = { ...client(), child };
    const enough = ledger.acknowledged + acknowledgements;
    const load = runLoad(target, scene, ledger, random);
    while (ledger.acknowledged < enough && ledger.faults.length === 0) await pause(10);
    child.killed = true;
    await end?.();
    await load;
  }

  it('keeps every acknowledged write complete and applies none twice', async () => {
    for (let kill = 0; kill < KILLS; kill++) {
      const place = random.below(2);
      await loadUntil(20 + random.below(60), () => (servers[place] as ChildServer).stop('SIGKILL'));
      // The other process serves all requests, although the killed one has left running calls and leases.
      await loadUntil(20);
      servers[place] = await world.startWith({ PORT: String(ports[place]) });
      while ((await world.instances()) > 2) await pause(200);
      await checkServer(client(), { scene, ledger, counterpart: world.counterpart, random });
    }
    expect(ledger.acknowledged).to.be.at.least(KILLS * 40);
    const { accounts, grants, linked } = ledger;
    console.log(
      `    ${JSON.stringify({ acknowledged: ledger.acknowledged, accounts: accounts.length, grants: grants.length, linked: linked.size })}`,
    );
    expect(await world.verifyAudit()).to.include('is complete');
  });
});
