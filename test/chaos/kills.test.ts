import { setTimeout as pause } from 'node:timers/promises';
import { Random } from '../fuzz/random.ts';
import { amount } from '../support/amount.ts';
import { isAvailable } from '../support/postgres/databases.ts';
import { startMixedLoad } from './mixed-load.ts';
import { type ChaosServer, type ChaosWorld, startWorld } from './world.ts';

/** `make chaos` runs the long form. */
const KILLS = amount(process.env['CHAOS_KILLS'], 4);
const SEED = amount(process.env['CHAOS_SEED'], Math.floor(Math.random() * 2 ** 32), 0);
const SERVERS = 3;

describe(`processes and a primary that are killed ${KILLS} times under mixed load, seed ${SEED}`, function () {
  if (!isAvailable()) return;
  this.timeout(600_000 + KILLS * 30_000);
  const random = new Random(SEED);
  let world: ChaosWorld;
  let servers: ChaosServer[];
  let scene: { connector: string; toolAccount: string };

  before(async () => {
    world = await startWorld();
    servers = [];
    for (let place = 0; place < SERVERS; place++) servers.push(await world.start());
    scene = await world.prepare(servers[0] as ChaosServer);
  });
  after(() => world.end());

  /** Causes one kind of failure, and repairs it. */
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

  it('lose nothing that was acknowledged, do nothing twice, and leave the audit log complete', async () => {
    const load = startMixedLoad(world, scene, () => servers);
    const done: Record<string, number> = {};
    for (let kill = 1; kill <= KILLS && load.faults.length === 0; kill++) {
      const what = await harm();
      done[what] = (done[what] ?? 0) + 1;
      await load.progress(5);
      if (kill % 25 === 0) console.log(`    ${kill} kills: ${JSON.stringify({ ...load.outcomes, ...done })}`);
    }
    await load.end();
    console.log(`    ${JSON.stringify({ ...load.outcomes, ...done })}`);
    await load.check(servers[0] as ChaosServer);
  });
});
