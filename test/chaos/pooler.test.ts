import { addressOf } from '../../scripts/postgres/cluster.ts';
import type { ChildServer } from '../support/child-server.ts';
import { isAvailable, TEMPLATE } from '../support/postgres/databases.ts';
import { type Pooler, startPooler, supportsPreparedStatements } from '../support/postgres/pgbouncer.ts';
import { startMixedLoad } from './mixed-load.ts';
import { type ChaosWorld, startWorld } from './world.ts';

const RESTARTS = 3;

describe('PgBouncer that is restarted under load', () => {
  if (!isAvailable()) return;
  let world: ChaosWorld;
  let pooler: Pooler;
  let servers: ChildServer[];

  before(async () => {
    world = await startWorld();
    pooler = await startPooler(world.cluster.socket);
    const settings = {
      DATABASE_URL: addressOf(pooler.socket, TEMPLATE),
      DATABASE_PREPARE: supportsPreparedStatements() ? 'on' : 'off',
      DATABASE_LISTEN_URL: world.cluster.url(TEMPLATE),
    };
    servers = [await world.startWith(settings), await world.startWith(settings)];
  });
  after(async () => {
    await world.end();
    await pooler.stop();
  });

  it('loses nothing that was acknowledged, does nothing twice, and is used again without a restart of the servers', async () => {
    const load = startMixedLoad(world, await world.prepare(servers[0] as ChildServer), () => servers);
    await load.progress(10);
    for (let restart = 0; restart < RESTARTS; restart++) {
      await pooler.restart();
      const from = performance.now();
      await load.progress(1);
      console.log(`    used again after ${Math.round(performance.now() - from)} ms`);
      await load.progress(10);
    }
    await load.end();
    console.log(`    ${JSON.stringify(load.outcomes)}`);
    await load.check(servers[0] as ChildServer);
  });
});
