import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { openKeySource } from '../../core/keys/key-source.ts';
import { createRotationStore } from '../../core/keys/rotation-store.ts';
import { createAndAddKey } from '../../core/vault/key-lifecycle.ts';
import { rewrapAll } from '../../core/vault/rotate.ts';
import { Vault } from '../../core/vault/vault.ts';
import { type LinkWorld, startLinkWorld } from '../support/link-world.ts';
import { verifyUser } from '../support/links.ts';

describe('keys that are rotated while links wait', () => {
  let world: LinkWorld;

  before(async () => {
    world = await startLinkWorld();
  });
  after(() => world.stop());

  it('leave nothing under the old key, and grants that wait for verification or revocation remain usable', async () => {
    const { store, config, now } = world.server.parts;
    const waiting = await world.finished(await world.link('waiting'), 'waiting');
    const underWay = await world.link('under-way');
    const mismatched = await world.finished(await world.link('given-up'), 'given-up');
    for (let tries = 0; tries < 6; tries++) await verifyUser(world.server, mismatched, 'somebody');

    const rotation = createRotationStore(store);
    await createAndAddKey(config.keysFile, rotation, randomBytes, now());
    const tools = { now, random: randomBytes };
    const { source } = openKeySource({ keys: null, keysFile: config.keysFile, mayCreate: false }, tools);
    const ring = source.current();
    const old = ring.ids.find((id) => id !== ring.active.id) as string;
    expect(await rotation.countUnder(old)).to.be.greaterThan(4);
    const result = await rewrapAll(new Vault(source, randomBytes), source, rotation);
    expect(result).to.deep.include({ failed: [], remaining: 0 });
    expect(await rotation.countUnder(old)).to.equal(0);

    // The server reads its key file again after a few seconds of its clock.
    world.clock.advance(60_000);
    expect((await verifyUser(world.server, waiting, 'waiting')).status).to.equal(200);
    expect(await world.as.isAlive((await world.token('waiting')) as string)).to.equal(true);
    const finished = await world.finished(underWay, 'under-way');
    expect((await verifyUser(world.server, finished, 'under-way')).status).to.equal(200);
    const [order] = await world.orders('given-up');
    expect(order?.tokens['refresh_token']).to.be.a('string');
  });
});
