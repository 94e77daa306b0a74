import { expect } from 'chai';
import { auditOf } from '../support/audit.ts';
import { type TestClock, testClock } from '../support/clock.ts';
import { type LinkWorld, startLinkWorld } from '../support/link-world.ts';
import { accountOf, keyConnector, makeLink, startLinkServer, typeKey, verifyUser } from '../support/links.ts';
import type { TestServer } from '../support/server.ts';
import { tempDir } from '../support/temp-dir.ts';

describe('L11: two finished links of one account', () => {
  let folder: ReturnType<typeof tempDir>;
  let clock: TestClock;
  let server: TestServer;
  let connector: string;
  let made = 0;

  const start = () => startLinkServer({ dataDir: folder.path, overrides: { now: clock.now } });

  before(async () => {
    folder = tempDir();
    clock = testClock();
    server = await start();
    connector = await keyConnector(server);
  });
  after(async () => {
    await server.stop();
    folder.remove();
  });

  /** Creates two links of a new account and finishes both: first the request `first`, then `second`. */
  async function finishedTwice(pauseMs = 1000) {
    made += 1;
    const identifier = `twice-${made}@app.example`;
    const link = () => makeLink(server, { connector, identifier, user_id: identifier });
    const one = await link();
    clock.advance(1);
    const two = await link();
    // The link that was created first is finished last, because only the time at which a link was finished matters.
    const { authRequestId: first } = await typeKey(two, 'the-first-key');
    clock.advance(pauseMs);
    const { authRequestId: second } = await typeKey(one, 'the-second-key');
    const verify = (id: string) => verifyUser(server, id, identifier).then(({ status }) => status);
    return { identifier, first, second, verify };
  }

  async function keyOf(identifier: string): Promise<string> {
    const account = await accountOf(server, identifier);
    expect(account?.status).to.equal('ACTIVE');
    const { body } = await server.call('GET', `/api/v1/connected_accounts/auth?id=${account?.id}`);
    return body.connected_account.authorization_details.static_auth.details.api_key;
  }

  it('replaces the credentials when the link that was finished later is verified later', async () => {
    const { identifier, first, second, verify } = await finishedTwice();
    expect(await verify(first)).to.equal(200);
    expect(await keyOf(identifier)).to.equal('the-first-key');
    expect(await verify(second)).to.equal(200);
    expect(await keyOf(identifier)).to.equal('the-second-key');
    expect([await verify(first), await verify(second)]).to.deep.equal([404, 404]);
  });

  it('refuses the link that was finished earlier once the later one was verified', async () => {
    const { identifier, first, second, verify } = await finishedTwice();
    expect(await verify(second)).to.equal(200);
    expect(await verify(first)).to.equal(404);
    expect(await keyOf(identifier)).to.equal('the-second-key');
    const { id } = (await accountOf(server, identifier)) as { id: string };
    const ended = (await auditOf(server, id)).filter(
      ({ action }) => action === 'link.failed' || action === 'link.expired',
    );
    expect(ended).to.have.lengthOf(1);
  });

  it('keeps the later credentials when both are verified concurrently, in either order', async () => {
    for (const order of ['first', 'second'] as const) {
      const { identifier, first, second, verify } = await finishedTwice();
      const ids = order === 'first' ? [first, second] : [second, first];
      const statuses = await Promise.all([...ids, ...ids].map(verify));
      expect(await keyOf(identifier), order).to.equal('the-second-key');
      const succeeded = statuses.filter((status) => status === 200);
      expect(succeeded.length, String(statuses)).to.be.within(1, 2);
      expect(statuses.filter((status) => status === 404)).to.have.lengthOf(4 - succeeded.length);
    }
  });

  it('orders links by their ids if both were finished in the same millisecond', async () => {
    const results = new Set<string>();
    for (const order of ['first', 'second'] as const) {
      const finished = await finishedTwice(0);
      await finished.verify(finished[order]);
      await finished.verify(order === 'first' ? finished.second : finished.first);
      results.add(await keyOf(finished.identifier));
    }
    expect(results.size).to.equal(1);
  });

  it('applies the same rule after a restart', async () => {
    const { identifier, first, second, verify } = await finishedTwice();
    const other = await finishedTwice();
    await server.stop();
    server = await start();
    expect([await verify(second), await verify(first)]).to.deep.equal([200, 404]);
    expect(await keyOf(identifier)).to.equal('the-second-key');
    expect(await other.verify(other.second)).to.equal(200);
    await server.stop();
    server = await start();
    expect(await other.verify(other.first)).to.equal(404);
    expect(await keyOf(other.identifier)).to.equal('the-second-key');
  });

  it('leaves unfinished links unchanged', async () => {
    const { identifier, second, verify } = await finishedTwice();
    const open = await makeLink(server, { connector, identifier, user_id: identifier });
    expect(await verify(second)).to.equal(200);
    const { authRequestId } = await typeKey(open, 'the-third-key');
    expect(await verify(authRequestId)).to.equal(200);
    expect(await keyOf(identifier)).to.equal('the-third-key');
  });

  describe('by different users of the provider', () => {
    let world: LinkWorld;

    before(async () => {
      world = await startLinkWorld();
    });
    after(() => world.stop());

    async function consentedTwice(identifier: string, [one, two]: [string, string]) {
      const first = await world.finished(await world.link(identifier), one);
      world.clock.advance(1000);
      const second = await world.finished(await world.link(identifier), two);
      return { first, second };
    }

    it('revokes the grant of the earlier link once the later one was verified', async () => {
      const { first, second } = await consentedTwice('later', ['alice', 'bob']);
      expect((await verifyUser(world.server, second, 'later')).status).to.equal(200);
      expect(await world.orders('later')).to.have.lengthOf(1);
      expect((await verifyUser(world.server, first, 'later')).status).to.equal(404);
      const [order] = await world.orders('later');
      expect(order?.tokens['access_token'])
        .to.be.a('string')
        .and.not.equal(await world.token('later'));
    });

    it('asks before the later link gives the account to another user', async () => {
      const { first, second } = await consentedTwice('earlier', ['alice', 'bob']);
      expect((await verifyUser(world.server, first, 'earlier')).status).to.equal(200);
      const before = await world.token('earlier');
      const refused = await verifyUser(world.server, second, 'earlier');
      expect(refused.body).to.include({ status: 409, code: 'SUBJECT_CHANGED' });
      expect(await world.token('earlier')).to.equal(before);
      const allowed = await verifyUser(world.server, second, 'earlier', { allow_subject_change: true });
      expect(allowed.status).to.equal(200);
      expect(await world.token('earlier')).not.to.equal(before);
    });

    it('revokes nothing if both links were finished by the same user', async () => {
      const { second } = await consentedTwice('same', ['carol', 'carol']);
      expect((await verifyUser(world.server, second, 'same')).status).to.equal(200);
      expect(await world.orders('same')).to.have.lengthOf(0);
      expect(await world.as.isAlive((await world.token('same')) as string)).to.equal(true);
    });
  });
});
