import { chmodSync, chownSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { openSession } from '../../db/postgres/session.ts';
import { serverUser } from '../../scripts/postgres/cluster.ts';

import { isAvailable, TEMPLATE } from '../support/postgres/databases.ts';
import { makeDisk, type SmallDisk, whyNoDisk } from '../system/support/small-disk.ts';
import { startMixedLoad } from './mixed-load.ts';
import { type ChaosServer, type ChaosWorld, startWorld } from './world.ts';

const ACCOUNTS = '/api/v1/connected_accounts';
const DISK_MIB = 96;

describe('a database server whose disk is full', () => {
  if (!isAvailable()) return;
  let disk: SmallDisk | undefined;
  let world: ChaosWorld | undefined;

  before(async function () {
    const reason = whyNoDisk();
    if (reason === null) return;
    console.log(`    skipped: ${reason}`);
    this.skip();
  });
  after(async () => {
    await world?.end();
    disk?.remove();
  });

  /** Moves the database, but not the log of the server, to a small disk. */
  async function startOn(small: SmallDisk): Promise<ChaosWorld> {
    const place = join(small.path, 'tables');
    mkdirSync(place, { mode: 0o700 });
    chmodSync(dirname(small.path), 0o755);
    const user = serverUser();
    if (user) chownSync(place, user.uid, user.gid);
    return startWorld({
      async arrange(cluster) {
        const session = await openSession(cluster.url('postgres'));
        await session.query({ text: `create tablespace small location '${place}'` });
        await session.query({ text: `alter database ${TEMPLATE} set tablespace small` });
        await session.close();
      },
    });
  }

  it('leads to 503 for writes while reads go on, and loses nothing, and no server needs a restart', async () => {
    disk = makeDisk(DISK_MIB);
    world = await startOn(disk);
    const servers = [await world.start(), await world.start()];
    const [server] = servers as [ChaosServer, ChaosServer];
    const load = startMixedLoad(world, await world.prepare(server), () => servers);
    const readiness = async () => (await server.call('GET', '/readyz')).status;
    await load.progress(20);
    expect(await readiness(), 'the control').to.equal(200);
    disk.fill();
    while ((await readiness()) !== 503) await pause(50);
    for (const each of servers)
      expect((await each.call('GET', `${ACCOUNTS}?page_size=1`)).status, 'a list').to.equal(200);
    disk.free();
    while ((await readiness()) !== 200) await pause(50);
    await load.progress(20);
    await load.end();
    console.log(`    ${JSON.stringify(load.outcomes)}`);
    await load.check(server);
  });
});
