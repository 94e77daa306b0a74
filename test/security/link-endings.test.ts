import { expect } from 'chai';
import { createRetention } from '../../core/retention/retention.ts';
import { type LinkWorld, requestOf, startLinkWorld } from '../support/link-world.ts';
import { accountOf, browserFor, consent, reachSignIn, submitLink, verifyUser, walk } from '../support/links.ts';
import { firstEnvironment } from '../support/tokens.ts';

const MINUTE = 60_000;

describe('how links end', () => {
  let world: LinkWorld;
  let made = 0;

  before(async () => {
    world = await startLinkWorld();
  });
  after(() => world.stop());

  const person = () => {
    made += 1;
    return `ending${made}@app.example`;
  };
  const verify = (authRequestId: string, identifier: string, more = {}) =>
    verifyUser(world.server, authRequestId, identifier, more);

  describe('L11: a working account', () => {
    it('keeps working while it is authorized again, with any result', async () => {
      const identifier = person();
      await world.connected(identifier, 'l11');
      const token = (await world.token(identifier)) as string;
      const works = async (when: string) => {
        expect(await world.status(identifier), when).to.equal('ACTIVE');
        expect(await world.token(identifier), when).to.equal(token);
        expect(await world.as.isAlive(token), when).to.equal(true);
      };
      const link = await world.link(identifier);
      await works('with a link');
      await reachSignIn(browserFor(world.as), link);
      await works('while its person is at the provider');
      const authRequestId = await world.finished(link, 'l11');
      await works('while its person is not verified');
      for (let tries = 0; tries < 6; tries++) await verify(authRequestId, 'somebody@app.example');
      await works('after too many mismatches');
      await world.finished(await world.link(identifier), 'l11');
      world.clock.advance(11 * MINUTE);
      await world.server.parts.links.expire();
      await works('after nobody was verified in time');
      expect(await world.orders(identifier), 'revoking one token could end the grant').to.deep.equal([]);
    });

    it('gets new tokens when the same user is verified', async () => {
      const identifier = person();
      await world.connected(identifier, 'same');
      const before = await world.token(identifier);
      expect((await verify(await world.finished(await world.link(identifier), 'same'), identifier)).status).to.equal(
        200,
      );
      const after = (await world.token(identifier)) as string;
      expect(after).not.to.equal(before);
      expect(await world.as.isAlive(after)).to.equal(true);
      expect(await world.orders(identifier)).to.deep.equal([]);
    });

    it('is not given to another user at the provider: 409, unless the application allows it', async () => {
      const identifier = person();
      await world.connected(identifier, 'first-person');
      const before = (await world.token(identifier)) as string;
      const authRequestId = await world.finished(await world.link(identifier), 'second-person');
      const refused = await verify(authRequestId, identifier);
      expect(refused.body).to.include({ status: 409, code: 'SUBJECT_CHANGED' });
      expect(await world.token(identifier)).to.equal(before);
      expect((await verify(authRequestId, identifier, { allow_subject_change: false })).status).to.equal(409);
      const allowed = await verify(authRequestId, identifier, { allow_subject_change: true });
      expect(allowed.status, allowed.text).to.equal(200);
      expect(await world.token(identifier)).not.to.equal(before);
      const [order, ...others] = await world.orders(identifier);
      expect(order?.tokens['access_token'], 'the first person’s are given up').to.equal(before);
      expect(others).to.deep.equal([]);
    });

    it('keeps its own tokens, and revokes those of a different user', async () => {
      const identifier = person();
      await world.connected(identifier, 'owner');
      const before = (await world.token(identifier)) as string;
      const authRequestId = await world.finished(await world.link(identifier), 'stranger');
      for (let tries = 0; tries < 6; tries++) await verify(authRequestId, 'somebody@app.example');
      const [order] = await world.orders(identifier);
      expect(order?.tokens['access_token']).to.be.a('string').and.not.equal(before);
      expect(await world.token(identifier)).to.equal(before);
    });
  });

  it('L12: five wrong identifiers are tolerated; the sixth ends the request and revokes the tokens', async () => {
    const identifier = person();
    const authRequestId = await world.finished(await world.link(identifier), 'l12');
    const answers = [];
    for (let tries = 0; tries < 6; tries++) answers.push(await verify(authRequestId, `wrong-${tries}@app.example`));
    expect(answers.map(({ status }) => status)).to.deep.equal([403, 403, 403, 403, 403, 404]);
    expect((await verify(authRequestId, identifier)).status, 'the right one, too late').to.equal(404);
    expect(await world.orders(identifier)).to.have.lengthOf(1);
    expect(await accountOf(world.server, identifier)).to.include({ status: 'PENDING_AUTH' });
    const mismatches = (await world.actions(identifier)).filter((action) => action === 'link.verification_failed');
    expect(mismatches).to.have.lengthOf(6);
    expect(await requestOf(world, identifier)).to.include({
      state: 'FAILED',
      pendingSealed: null,
      wrappedDataKey: null,
    });
  });

  it('L12: the correct identifier is accepted after five wrong ones', async () => {
    const identifier = person();
    const authRequestId = await world.finished(await world.link(identifier), 'l12-right');
    for (let tries = 0; tries < 5; tries++) await verify(authRequestId, 'wrong@app.example');
    expect((await verify(authRequestId, identifier)).status).to.equal(200);
  });

  it('L17: identifiers are compared byte for byte, and never revealed', async () => {
    const looks = [
      'josé@app.example',
      'JOSÉ@app.example',
      'José@app.example ',
      ' José@app.example',
      'Jose@app.example',
    ];
    const alike = [
      ...looks,
      'José@app.examplе',
      'José@app.example\u200b',
      'José@app.example.',
      'José＠app.example',
      'ſosé',
    ];
    const identifier = 'José@app.example';
    for (const other of alike) {
      const authRequestId = await world.finished(await world.link(identifier), 'l17');
      const answer = await verify(authRequestId, other);
      expect(answer.status, other).to.equal(403);
      expect(answer.text).not.to.include(identifier);
      expect((await verify(authRequestId, identifier)).status, other).to.equal(200);
    }
  });

  describe('L20: the time limit', () => {
    it('ends a request that was never verified: 404, deleted, and revoked at the provider', async () => {
      const identifier = person();
      const authRequestId = await world.finished(await world.link(identifier), 'l20');
      expect((await requestOf(world, identifier)).pendingSealed).to.be.instanceOf(Buffer);
      world.clock.advance(11 * MINUTE);
      expect((await verify(authRequestId, identifier)).status, 'at once').to.equal(404);
      await world.server.parts.links.expire();
      expect(await requestOf(world, identifier)).to.include({
        state: 'EXPIRED',
        pendingSealed: null,
        wrappedDataKey: null,
      });
      expect(await world.orders(identifier)).to.have.lengthOf(1);
      const account = await accountOf(world.server, identifier);
      expect(account?.status).to.equal('PENDING_AUTH');
      expect(account?.status_reason).to.match(/not verified in time/);
      expect((await verify(authRequestId, identifier)).status, 'afterwards').to.equal(404);
      await world.server.parts.links.expire();
      expect(await world.orders(identifier), 'once').to.have.lengthOf(1);
    });

    it('ends a flow: a user who returns after ten minutes is refused before any token request', async () => {
      const browser = browserFor(world.as);
      const leading = await consent(browser, await reachSignIn(browser, await world.link(person())), 'slow');
      const tokens = world.as.hits('/token');
      world.clock.advance(10 * MINUTE);
      expect((await browser.open(leading.location as string)).status).to.equal(400);
      expect(world.as.hits('/token')).to.equal(tokens);
    });

    it('ends a link, but not while a user is at the provider', async () => {
      const [late, underWay] = [await world.link(person()), await world.link(person())];
      world.clock.advance(14 * MINUTE);
      const browser = browserFor(world.as);
      const page = await reachSignIn(browser, underWay);
      world.clock.advance(2 * MINUTE);
      await world.server.parts.links.expire();
      expect((await browser.open(late)).status).to.equal(410);
      expect((await submitLink(browser, late)).status).to.equal(410);
      expect((await browser.open(underWay)).status, 'a new start').to.equal(410);
      expect((await browser.open((await consent(browser, page, 'in-time')).location as string)).status).to.equal(303);
    });

    it('ends all of many requests', async () => {
      for (let links = 0; links < 250; links++) await world.link(person());
      world.clock.advance(16 * MINUTE);
      await world.server.parts.links.expire();
      const open = world.requests().filter((row) => row['ended_at'] === null);
      expect(open).to.deep.equal([]);
    });

    it('removes requests that ended a day ago', async () => {
      world.clock.advance(25 * 60 * MINUTE);
      await world.server.parts.links.expire();
      expect(world.requests().filter((row) => row['ended_at'] === null)).to.deep.equal([]);
      world.clock.advance(25 * 60 * MINUTE);
      await createRetention(world.server.parts).run();
      expect(world.requests()).to.deep.equal([]);
    });
  });

  describe('a change of the account', () => {
    const changes: Record<string, (id: string) => Promise<unknown>> = {
      'new credentials': (id) => {
        const authorization_details = { oauth_token: { access_token: 'imported' } };
        const body = { id, connected_account: { authorization_details } };
        return world.server.call('PUT', '/api/v1/connected_accounts', { body });
      },
      disconnect: (id) => world.server.call('POST', '/api/v1/connected_accounts:disconnect', { body: { id } }),
      delete: (id) => world.server.call('POST', '/api/v1/connected_accounts:delete', { body: { id } }),
    };
    for (const [name, change] of Object.entries(changes)) {
      it(`by ${name} ends its links, and revokes their grants (C17)`, async () => {
        const identifier = person();
        const open = await world.link(identifier);
        const authRequestId = await world.finished(await world.link(identifier), `changed-${made}`);
        const accountId = (await accountOf(world.server, identifier))?.id as string;
        const { id: environmentId } = await firstEnvironment(world.server);
        await change(accountId);
        expect((await verify(authRequestId, identifier)).status).to.equal(404);
        expect((await walk(browserFor(world.as), open, 'late').catch(() => ({ status: 410 }))).status).to.equal(410);
        await world.server.parts.links.expire();
        const entries = await world.server.parts.store.read.jobs.listBySubject(environmentId, accountId);
        // Imported tokens do not say which user they belong to. The tokens of the link could be of the same grant, so
        // they are not revoked.
        expect(entries).to.have.lengthOf(name === 'new credentials' ? 0 : 1);
        expect(await world.status(identifier)).not.to.equal('PENDING_VERIFICATION');
      });
    }
  });
});
