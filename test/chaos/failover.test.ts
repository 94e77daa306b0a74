import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { openSession } from '../../db/postgres/session.ts';
import type { Cluster, Standby } from '../../scripts/postgres/cluster.ts';
import type { ChildServer } from '../support/child-server.ts';
import { isAvailable, TEMPLATE } from '../support/postgres/databases.ts';
import { startMixedLoad } from './mixed-load.ts';
import { type ChaosWorld, startWorld } from './world.ts';

describe('a primary with a synchronous standby that is killed under load', () => {
  if (!isAvailable()) return;
  let world: ChaosWorld;
  let standby: Standby | undefined;
  let servers: ChildServer[];

  before(async () => {
    world = await startWorld();
    standby = world.cluster.startStandby();
    await makeSynchronous(world.cluster);
    const hosts = `${world.cluster.socket},${standby.socket}`;
    const settings = { DATABASE_URL: `postgres://postgres@localhost/${TEMPLATE}?host=${hosts}` };
    servers = [await world.startWith(settings), await world.startWith(settings)];
  });
  after(async () => {
    await world.end();
    standby?.stop();
  });

  /** Makes commits wait for the standby. The setting is stored on the primary alone, after the standby was copied. */
  async function makeSynchronous(primary: Cluster): Promise<void> {
    const session = await openSession(primary.url(TEMPLATE));
    await session.query({ text: "alter system set synchronous_standby_names = '*'" });
    await session.query({ text: 'select pg_reload_conf()' });
    const state = async () => {
      const { rows } = await session.query({ text: 'select sync_state from pg_stat_replication' });
      return rows[0]?.[0];
    };
    while ((await state()) !== 'sync') await pause(50);
    await session.close();
  }

  it('loses nothing that was acknowledged when the standby is promoted, and the old primary acknowledges nothing', async () => {
    const promoted = standby as Standby;
    const load = startMixedLoad(world, await world.prepare(servers[0] as ChildServer), () => servers);
    await load.progress(30);
    // The standby never receives the next writes of the primary, so the primary must not acknowledge them.
    promoted.freeze(true);
    await pause(1_000);
    world.cluster.kill();
    promoted.freeze(false);
    promoted.promote();
    await load.progress(30);
    // The old primary runs again, but no standby confirms its writes.
    world.cluster.restart();
    const alone = await world.startWith({ DATABASE_URL: world.cluster.url(TEMPLATE) }).catch((error: Error) => error);
    expect(alone, 'a server that only knows the old primary').to.be.instanceOf(Error);
    await load.progress(30);
    await load.end();
    console.log(`    ${JSON.stringify(load.outcomes)}`);
    world.env['DATABASE_URL'] = promoted.url(TEMPLATE);
    await load.check(servers[0] as ChildServer);
  });
});
