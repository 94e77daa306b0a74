import { expect } from 'chai';
import { type LinkWorld, startLinkWorld } from '../support/link-world.ts';
import { verifyUser } from '../support/links.ts';

describe('the grant of a link that was never verified', () => {
  let world: LinkWorld;

  before(async () => {
    world = await startLinkWorld({ revokes: true });
  });
  after(() => world.stop());

  /**
   * Lets a user consent to another user's link.
   *
   * @returns the id of the request, and the number of revocations that the provider has received so far
   */
  async function fished(identifier: string) {
    const authRequestId = await world.finished(await world.link(identifier), `owner-of-${identifier}`);
    return { authRequestId, before: world.as.hits('/token/revocation') };
  }

  it('is revoked at the provider when the sixth identifier is wrong (L1, L12)', async () => {
    const { authRequestId, before } = await fished('mismatched');
    for (let tries = 0; tries < 6; tries++) await verifyUser(world.server, authRequestId, 'somebody-else');
    await world.server.parts.jobs.runDue();
    const sent = world.as.sent('/token/revocation').slice(before);
    expect(sent.map(({ token_type_hint: kind }) => kind)).to.deep.equal(['refresh_token', 'access_token']);
    for (const { token = '' } of sent) expect(await world.as.isAlive(token)).to.equal(false);
    expect(await world.orders('mismatched')).to.deep.equal([]);
    expect(await world.actions('mismatched')).to.include('link.failed');
  });

  it('is revoked at the provider when it expires (L20)', async () => {
    const { before } = await fished('too-late');
    world.clock.advance(11 * 60_000);
    await world.server.parts.links.expire();
    await world.server.parts.jobs.runDue();
    expect(world.as.hits('/token/revocation')).to.be.greaterThan(before);
    expect(await world.status('too-late')).to.equal('PENDING_AUTH');
  });

  it('is not revoked if the user has a working account', async () => {
    await world.connected('own-account', 'both');
    const before = world.as.hits('/token/revocation');
    const authRequestId = await world.finished(await world.link('fishing'), 'both');
    for (let tries = 0; tries < 6; tries++) await verifyUser(world.server, authRequestId, 'own-account');
    await world.server.parts.jobs.runDue();
    expect(world.as.hits('/token/revocation')).to.equal(before);
    expect(await world.as.isAlive((await world.token('own-account')) as string)).to.equal(true);
  });
});
