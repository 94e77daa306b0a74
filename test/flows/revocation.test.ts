import { expect } from 'chai';
import { type LinkWorld, startLinkWorld } from '../support/link-world.ts';
import { accountOf, verifyUser } from '../support/links.ts';
import { leave, revocationsOf, startWorker } from '../support/revocations.ts';

const TEN_MINUTES = 10 * 60_000;

describe('revocation at a strict authorization server', () => {
  let world: LinkWorld;
  let worker: ReturnType<typeof startWorker>;

  beforeEach(async () => {
    world = await startLinkWorld();
    worker = startWorker(world.server);
  });
  afterEach(async () => {
    await worker.stop();
    await world.stop();
  });

  /** Expects that a token is valid at the provider, or if `alive` is false, that it is not. */
  async function expectAt(token: string | undefined, alive: boolean): Promise<void> {
    expect(await world.as.isAlive(token ?? '')).to.equal(alive);
    const headers = { authorization: `Bearer ${token}` };
    expect((await fetch(`${world.as.target}/me`, { headers })).status).to.equal(alive ? 200 : 401);
  }

  const resultOf = async (id: string) => (await revocationsOf(world.server, id)).map(({ status }) => status);

  it('fails as a client that the provider rejects, and reports it (negative control)', async () => {
    const id = await world.connected('ada', 'alice');
    const token = await world.token('ada');
    const body = { client_secret: 'wrong-secret' };
    await world.server.call('PUT', `/api/v1/connections/${world.connectionId}`, { body });
    await leave(world.server, id);
    await worker.run();
    await expectAt(token, true);
    const [result] = await revocationsOf(world.server, id);
    expect(result).to.include({ status: 'FAILED', reason: 'The provider does not accept the credential.' });
  });

  it('ends the tokens of a deleted account', async () => {
    const id = await world.connected('ada', 'alice');
    const token = await world.token('ada');
    await expectAt(token, true);
    await leave(world.server, id);
    await worker.run();
    await expectAt(token, false);
    expect(await resultOf(id)).to.deep.equal(['REVOKED']);
    const hints = world.as.sent('/token/revocation').map(({ token_type_hint: hint }) => hint);
    expect(hints).to.deep.equal(['refresh_token', 'access_token']);
  });

  it('ends those of a disconnected account, which can be connected again', async () => {
    const id = await world.connected('ada', 'alice');
    const token = await world.token('ada');
    await leave(world.server, id, 'disconnect');
    await worker.run();
    await expectAt(token, false);
    expect(await world.status('ada')).to.equal('DISCONNECTED');
    expect(await world.actions('ada')).to.include.members(['connected_account.disconnected', 'revocation.succeeded']);
    await world.connected('ada', 'alice');
    await expectAt(await world.token('ada'), true);
    await leave(world.server, id, 'disconnect');
    await leave(world.server, id, 'disconnect');
    await worker.run();
    expect(await resultOf(id)).to.deep.equal(['REVOKED', 'REVOKED']);
  });

  it('ends those of all accounts of a deleted provider, after provider and connection were deleted (P5)', async () => {
    const ids = [await world.connected('ada', 'alice'), await world.connected('bob', 'bob')];
    const tokens = [await world.token('ada'), await world.token('bob')];
    // A grant that was never verified belongs to the user who consented.
    await world.finished(await world.link('eve'), 'eve');
    const { body } = await world.server.call('GET', `/api/v1/connections/${world.connectionId}`);
    const path = `/api/v1/custom-providers/${body.connection.provider_key}`;
    expect((await world.server.call('DELETE', path)).status).to.equal(200);
    await world.server.parts.links.expire();
    const [granted] = await world.orders('eve');
    for (const identifier of ['ada', 'bob', 'eve']) {
      const { id } = (await accountOf(world.server, identifier)) as { id: string };
      await leave(world.server, id);
    }
    const gone = await world.server.call('DELETE', `/api/v1/connections/${world.connectionId}`);
    expect(gone.status, gone.text).to.equal(200);
    await worker.run();
    for (const token of [...tokens, String(granted?.tokens['access_token'])]) await expectAt(token, false);
    for (const id of ids) expect(await resultOf(id)).to.deep.equal(['REVOKED']);
  });

  it('ends the grant of a link that was never verified (L20)', async () => {
    await world.finished(await world.link('ada'), 'alice');
    world.clock.advance(TEN_MINUTES + 1);
    await world.server.parts.links.expire();
    const [order] = await world.orders('ada');
    await worker.run();
    await expectAt(String(order?.tokens['access_token']), false);
  });

  it('ends the grant of a late verification, which does not restore a deleted account (C12)', async () => {
    const authRequestId = await world.finished(await world.link('ada'), 'alice');
    const { id } = (await accountOf(world.server, 'ada')) as { id: string };
    await leave(world.server, id);
    expect((await verifyUser(world.server, authRequestId, 'ada')).status).to.equal(404);
    expect(await accountOf(world.server, 'ada')).to.equal(undefined);
    await world.server.parts.links.expire();
    expect(await resultOf(id)).to.deep.equal(['PENDING']);
    await worker.run();
    expect(await resultOf(id)).to.deep.equal(['REVOKED']);
    expect(world.as.hits('/token/revocation')).to.equal(2);
  });

  describe('when several accounts may share one grant', () => {
    it('is not sent while another account of the same user is active, and is sent with the last one', async () => {
      const first = await world.connected('ada', 'alice');
      const second = await world.connected('ada-too', 'alice');
      const token = await world.token('ada-too');
      await leave(world.server, first);
      await worker.run();
      await expectAt(token, true);
      const [kept] = await revocationsOf(world.server, first);
      expect(kept?.status).to.equal('NOT_REVOCABLE');
      expect(kept?.reason).to.match(/^Another connected account of the same user is in use/);
      expect(world.as.hits('/token/revocation')).to.equal(0);
      await leave(world.server, second);
      await worker.run();
      await expectAt(token, false);
    });

    it('does not depend on accounts of other users', async () => {
      const first = await world.connected('ada', 'alice');
      await world.connected('bob', 'bob');
      const [own, other] = [await world.token('ada'), await world.token('bob')];
      await leave(world.server, first);
      await worker.run();
      await expectAt(own, false);
      await expectAt(other, true);
    });

    it('is dropped when the user has connected the account again before it was sent', async () => {
      const id = await world.connected('ada', 'alice');
      await leave(world.server, id, 'disconnect');
      await world.connected('ada', 'alice');
      await worker.run();
      await expectAt(await world.token('ada'), true);
      expect(await resultOf(id)).to.deep.equal(['NOT_REVOCABLE']);
    });
  });
});
