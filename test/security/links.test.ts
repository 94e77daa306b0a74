import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { auditOf } from '../support/audit.ts';
import { startAuthorizationServer } from '../support/authorization-server.ts';
import { dumpDatabase } from '../support/database-file.ts';
import { type LinkWorld, startLinkWorld } from '../support/link-world.ts';
import {
  accountOf,
  browserFor,
  consent,
  consentConnector,
  makeLink,
  reachSignIn,
  returned,
  startLinkServer,
  submitLink,
  verifyUser,
  walk,
} from '../support/links.ts';
import type { SecondEnvironment } from '../support/second-environment.ts';
import { addSecondEnvironment } from '../support/second-environment.ts';

const MALLORY = 'mallory@app.example';
const VICTIM = 'victim@app.example';

describe('attacks on links', () => {
  let world: LinkWorld;
  let other: SecondEnvironment;
  let made = 0;

  before(async () => {
    world = await startLinkWorld();
    other = await addSecondEnvironment(world.server);
  });
  after(() => world.stop());

  const person = () => {
    made += 1;
    return `person${made}@app.example`;
  };

  it('a user who opens their own link, consents and is verified has a working account (control)', async () => {
    const id = await world.connected('control@app.example', 'control');
    expect(await world.status('control@app.example')).to.equal('ACTIVE');
    const token = (await world.token('control@app.example')) as string;
    expect(await world.as.isAlive(token)).to.equal(true);
    expect(await world.actions('control@app.example')).to.include('connected_account.connected');
    expect(id).to.match(/^ca_/);
  });

  it('L1: consent to the link of another user gives that user nothing, and the tokens are revoked', async () => {
    const link = await world.link(MALLORY);
    const authRequestId = await world.finished(link, 'victim');
    const refused = await verifyUser(world.server, authRequestId, VICTIM);
    expect(refused.body).to.include({ status: 403, code: 'IDENTIFIER_MISMATCH' });
    expect(await world.status(MALLORY)).to.equal('PENDING_VERIFICATION');
    expect(await world.token(MALLORY)).to.equal(undefined);
    const account = await accountOf(world.server, MALLORY);
    const run = { tool_name: 'http_get', tool_input: { path: '/' }, connected_account_id: account?.id };
    const execution = await world.server.call('POST', '/api/v1/execute_tool', { body: run });
    expect(execution.body).to.include({ status: 409, code: 'ACCOUNT_NOT_ACTIVE' });
    for (let tries = 0; tries < 5; tries++) await verifyUser(world.server, authRequestId, VICTIM);
    expect(await world.status(MALLORY)).to.equal('PENDING_AUTH');
    const [order] = await world.orders(MALLORY);
    expect(await world.as.isAlive(String(order?.tokens['access_token']))).to.equal(true);
    expect(order?.tokens['refresh_token']).to.be.a('string');
    expect(JSON.stringify(dumpDatabase(world.server))).not.to.include(String(order?.tokens['access_token']));
  });

  it('L2: nothing that an attacker knows can replace the auth_request_id', async () => {
    const identifier = person();
    const link = await world.link(identifier);
    const browser = browserFor(world.as);
    const start = new URL((await submitLink(browser, link)).location as string);
    const leading = await consent(browser, await browser.open(start.href).then((page) => browser.follow(page)), 'l2');
    const callback = new URL(leading.location as string);
    await browser.open(callback.href);
    const account = await accountOf(world.server, identifier);
    const known = [
      link.split('/').at(-1),
      ...['state', 'code_challenge', 'client_id'].map((name) => start.searchParams.get(name)),
      ...['state', 'code'].map((name) => callback.searchParams.get(name)),
      browser.cookie(world.server.origin, 'valetkey-flow'),
      account?.id,
      world.connectionId,
      String(world.requests().at(-1)?.['id']),
    ] as string[];
    const digests = known.flatMap((value) => {
      const hash = createHash('sha256').update(value).digest();
      return [hash.toString('hex'), hash.toString('base64url')];
    });
    const stored = Object.values(world.requests().at(-1) ?? {}).filter((value) => Buffer.isBuffer(value)) as Buffer[];
    for (const value of [...known, ...digests, ...stored.map((bytes) => bytes.toString('base64url').slice(0, 512))]) {
      expect((await verifyUser(world.server, value, identifier)).status, value).to.equal(404);
    }
    expect(await world.status(identifier)).to.equal('PENDING_VERIFICATION');
  });

  it('L3: an authorization that began in another browser is refused before any token request', async () => {
    const identifier = person();
    const attacker = browserFor(world.as);
    const start = await submitLink(attacker, await world.link(identifier));
    const tokens = world.as.hits('/token');
    for (const cookie of [undefined, 'x'.repeat(43), 'short']) {
      const victim = browserFor(world.as);
      if (cookie) victim.setCookie(world.server.origin, 'valetkey-flow', cookie);
      const page = await victim.follow(await victim.open(start.location as string));
      const back = await victim.open((await consent(victim, page, 'victim')).location as string);
      expect(back.status).to.equal(400);
    }
    expect(world.as.hits('/token')).to.equal(tokens);
    expect(await world.status(identifier)).to.equal('PENDING_AUTH');
    const own = await attacker.open((await consent(attacker, await attacker.follow(start), 'own')).location as string);
    expect(own.status, 'the browser that began it').to.equal(303);
  });

  it('L6: of fifty concurrent verifications one succeeds, and states, codes and links are used once', async () => {
    const identifier = person();
    const browser = browserFor(world.as);
    const link = await world.link(identifier);
    const leading = await consent(browser, await reachSignIn(browser, link), 'l6');
    const { authRequestId } = returned(await browser.open(leading.location as string));
    const tokens = world.as.hits('/token');
    expect((await browser.open(leading.location as string)).status, 'the callback again').to.equal(400);
    expect(world.as.hits('/token')).to.equal(tokens);
    const attempts = Array.from({ length: 50 }, () => verifyUser(world.server, authRequestId, identifier));
    const statuses = (await Promise.all(attempts)).map(({ status }) => status).sort();
    expect(statuses).to.deep.equal([200, ...Array.from({ length: 49 }, () => 404)]);
    const { id } = (await accountOf(world.server, identifier)) as { id: string };
    const activations = (await auditOf(world.server, id)).filter(
      ({ action }) => action === 'connected_account.connected',
    );
    expect(activations).to.have.lengthOf(1);
    expect((await browser.open(link)).status, 'the link again').to.equal(410);
  });

  it('L7: loading a link changes nothing, any number of times, and its user can finish it afterwards', async () => {
    const identifier = person();
    const link = await world.link(identifier);
    const before = dumpDatabase(world.server);
    for (let looks = 0; looks < 20; looks++) {
      const bot = browserFor(world.as);
      expect((await bot.open(link, looks % 2 ? 'GET' : 'HEAD')).status).to.equal(200);
    }
    expect(dumpDatabase(world.server)).to.deep.equal(before);
    const authRequestId = await world.finished(link, 'l7');
    expect((await verifyUser(world.server, authRequestId, identifier)).status).to.equal(200);
  });

  it('L7: loading the callback address does not use up the callback', async () => {
    const browser = browserFor(world.as);
    const leading = await consent(browser, await reachSignIn(browser, await world.link(person())), 'l7');
    const tokens = world.as.hits('/token');
    expect((await browser.open(leading.location as string, 'HEAD')).status).to.equal(400);
    expect(world.as.hits('/token')).to.equal(tokens);
    expect((await browser.open(leading.location as string)).status).to.equal(303);
  });

  it('L7: each start has its own state and PKCE verifier', async () => {
    const link = await world.link(person());
    const browser = browserFor(world.as);
    const starts = [await submitLink(browser, link), await submitLink(browser, link)].map(
      ({ location }) => new URL(location as string).searchParams,
    );
    for (const name of ['state', 'code_challenge']) {
      expect(starts[0]?.get(name), name).not.to.equal(starts[1]?.get(name));
    }
    expect(starts[0]?.get('code_challenge_method')).to.equal('S256');
  });

  it('L8: codes that are swapped between two flows end both, and change no account', async () => {
    const people = [person(), person()];
    const flows = await Promise.all(
      people.map(async (identifier) => {
        const browser = browserFor(world.as);
        const page = await reachSignIn(browser, await world.link(identifier));
        return { browser, callback: new URL((await consent(browser, page, identifier)).location as string) };
      }),
    );
    const codes = flows.map(({ callback }) => callback.searchParams.get('code') as string).reverse();
    for (const [place, { browser, callback }] of flows.entries()) {
      callback.searchParams.set('code', codes[place] as string);
      expect((await browser.open(callback.href)).status).to.equal(502);
    }
    for (const identifier of people) {
      expect(await world.status(identifier)).to.equal('PENDING_AUTH');
      expect(await world.token(identifier)).to.equal(undefined);
    }
  });

  it('L9: a response of one provider is not accepted as that of another, and no code is sent to the wrong one', async () => {
    const evil = await startAuthorizationServer({ name: 'evil' });
    const overrides = `${world.as.override},${evil.override}`;
    const server = await startLinkServer({ env: { VALETKEY_ENDPOINT_OVERRIDES: overrides } });
    try {
      const honest = await consentConnector(server, world.as);
      const trap = await consentConnector(server, evil);
      const begin = async () => {
        const browser = browserFor(world.as, evil);
        const link = await makeLink(server, { connector: trap.connector });
        const start = new URL((await submitLink(browser, link)).location as string);
        // The malicious server redirects the victim to the honest one, with the client and the callback of the honest
        // connection.
        const own = new URL(
          (await submitLink(browser, await makeLink(server, { connector: honest.connector }))).location as string,
        );
        for (const name of ['state', 'code_challenge'])
          own.searchParams.set(name, start.searchParams.get(name) as string);
        const page = await browser.follow(await browser.open(own.href));
        return { browser, callback: new URL((await consent(browser, page, 'victim')).location as string) };
      };
      const hits = world.as.hits('/token');
      const first = await begin();
      expect((await first.browser.open(first.callback.href)).status, 'at the honest callback').to.equal(400);
      const second = await begin();
      second.callback.pathname = `/oauth/callback/${trap.connectionId}`;
      expect((await second.browser.open(second.callback.href)).status, 'with the issuer of the other').to.equal(502);
      const third = await begin();
      third.callback.pathname = `/oauth/callback/${trap.connectionId}`;
      third.callback.searchParams.delete('iss');
      expect((await third.browser.open(third.callback.href)).status, 'without an issuer').to.equal(502);
      expect([evil.hits('/token'), world.as.hits('/token') - hits]).to.deep.equal([0, 0]);
    } finally {
      await server.stop();
      await evil.stop();
    }
  });

  it('L10: only the environment’s own client is used', async () => {
    expect(JSON.stringify(world.server.parts.catalogue.connectors())).not.to.match(/"client_(id|secret)":/);
    const bare = await other.call('POST', '/api/v1/connections', { body: { connector: 'github', type: 'OAUTH' } });
    expect(bare.body.connection).to.include({ status: 'DRAFT', client_id: '' });
  });

  it('L18: a client of another environment verifies nothing and learns nothing', async () => {
    const identifier = person();
    const authRequestId = await world.finished(await world.link(identifier), 'l18');
    const foreign = await verifyUser(other, authRequestId, identifier);
    const unknown = await verifyUser(other, 'x'.repeat(43), identifier);
    const told = ({ body: { request_id: _id, ...body } }: typeof foreign) => body;
    expect(foreign.status).to.equal(404);
    expect(told(foreign)).to.deep.equal(told(unknown));
    expect((await verifyUser(world.server, authRequestId, identifier)).status).to.equal(200);
  });

  it('L1: a user who consents both to their own link and to another user’s keeps their own account', async () => {
    const own = person();
    await world.connected(own, 'shared');
    const stolen = await world.finished(await world.link('thief@app.example'), 'shared');
    for (let tries = 0; tries < 6; tries++) await verifyUser(world.server, stolen, own);
    expect(await world.status('thief@app.example')).to.equal('PENDING_AUTH');
    // At many providers, revoking one token ends all tokens of that user, so the grant of the user's own account is not
    // revoked.
    expect(await world.orders('thief@app.example')).to.deep.equal([]);
    expect(await world.as.isAlive((await world.token(own)) as string)).to.equal(true);
  });

  it('a link that is used twice concurrently is finished by the first', async () => {
    const identifier = person();
    const link = await world.link(identifier);
    const browsers = [browserFor(world.as), browserFor(world.as)];
    const leading = [];
    for (const browser of browsers) leading.push(await consent(browser, await reachSignIn(browser, link), 'twin'));
    const pages = [];
    for (const [place, browser] of browsers.entries()) {
      pages.push(await browser.open(leading[place]?.location as string));
    }
    expect(pages.map(({ status }) => status)).to.deep.equal([303, 410]);
    const { authRequestId } = returned(pages[0] as (typeof pages)[number]);
    expect((await verifyUser(world.server, authRequestId, identifier)).status).to.equal(200);
    expect(await world.orders(identifier)).to.deep.equal([]);
    expect(await world.as.isAlive((await world.token(identifier)) as string)).to.equal(true);
    expect((await walk(browserFor(world.as), await world.link(identifier), 'twin')).status).to.equal(303);
  });
});
