import { expect } from 'chai';
import { auditOf } from '../support/audit.ts';
import { TestBrowser, withoutIsolation } from '../support/browser.ts';
import { execute } from '../support/execute.ts';
import { returned, submitLink, verifyUser } from '../support/links.ts';
import { ADA } from '../support/mcp-login.ts';
import { NO_BACKGROUND } from '../support/no-background.ts';
import { ownTool, storeTools } from '../support/own-tools.ts';
import { OWNER, type PortalWorld, RETURN_URL, startPortalWorld } from '../support/portal.ts';
import { API_KEY_PATTERN, createConnection, createProvider } from '../support/providers.ts';
import { setOverlay } from '../support/tool-overlays.ts';

describe('the portal', () => {
  let world: PortalWorld;

  beforeEach(async () => {
    world = await startPortalWorld();
  });
  afterEach(() => world.stop());

  const status = async (id: string) =>
    (await world.server.call('GET', `/api/v1/connected_accounts/details?id=${id}`)).body.connected_account;

  it('tells a user without accounts what is missing', async () => {
    const { text } = await world.enter();
    expect(text)
      .to.include('No account is connected yet.')
      .and.include('No agent has access')
      .and.include('No agent has used');
  });

  it('shows the accounts, agents and calls of the user, without the contents of calls', async () => {
    const { id } = await world.account({}, { display_name: 'Acme Notes' });
    await execute(world.server, id, 'http_get', { path: '/private-path' });
    await world.tokens();
    const text = withoutIsolation((await world.enter()).text);
    expect(text).to.include('Logged in as ada@acme.test').and.include('Acme Notes').and.include('Connected</span>');
    expect(text).to.include('Read from an HTTP API').and.include('Succeeded').and.include('Document Client');
    expect(text).not.to.include('private-path');
    expect(text).not.to.include('content of a call');
    expect(text).not.to.include('acme-key-of-ada');
  });

  it('marks titles of built-in tools as English on a page in another language, and no title of an overlay or an own tool', async () => {
    const { id } = await world.account({}, { display_name: 'Acme Notes' });
    const { provider } = await status(id);
    const title = 'Notiz lesen';
    await storeTools(world.server, [
      ownTool(provider, 'notes_read', { title, request: { method: 'GET', path: '/notes/{number}' } }),
    ]);
    await setOverlay(world.server, 'http_post', { title: 'Notiz schreiben' });
    await execute(world.server, id, 'http_get', { path: '/notes' });
    await execute(world.server, id, 'http_post', { path: '/notes', body: {} });
    await execute(world.server, id, 'notes_read', { number: 1 });
    const { text } = await world.enter(new TestBrowser({ headers: { 'accept-language': 'de' } }));
    expect(text)
      .to.include('<bdi lang="en" dir="ltr">Read from an HTTP API</bdi>')
      .and.include('<bdi>Notiz schreiben</bdi>')
      .and.include('<bdi>Notiz lesen</bdi>');
  });

  it('connects an account with the verification of the application, and returns to the portal', async () => {
    const { identifier: connector } = await createProvider(world.server, {
      display_name: 'Acme Desk',
      auth_patterns: [API_KEY_PATTERN],
    });
    const { id } = await createConnection(world.server, { connector });
    const browser = new TestBrowser();
    const portal = await world.enter(browser, { return_url: RETURN_URL });
    expect(portal.text).to.include(`href="${RETURN_URL}"`);
    const { location = '' } = await world.press(browser, portal, `/portal/connections/${id}/connect`);
    expect(location).to.match(/\/connect\/[A-Za-z0-9_-]{43}$/);
    const finished = await submitLink(browser, location, { api_key: 'typed-key-0123456789' });
    const { authRequestId } = returned(finished);
    const before = await browser.open(`${world.server.origin}/portal`);
    expect(before.text, 'before the verification').to.include('Waiting for confirmation');
    const { body } = await verifyUser(world.server, authRequestId, ADA.identifier);
    const back = await browser.follow(await browser.open(body.post_user_verify_redirect_url));
    expect(back.url).to.equal(`${world.server.origin}/portal?done=connected`);
    expect(back.text).to.include('The account is connected.').and.include('Connected</span>');
  });

  it('reconnects an account of the user', async () => {
    const { id } = await world.account();
    const browser = new TestBrowser();
    const { location = '' } = await world.press(
      browser,
      await world.enter(browser),
      `/portal/accounts/${id}/reconnect`,
    );
    const { authRequestId } = returned(await submitLink(browser, location, { api_key: 'another-key-0123456789' }));
    expect((await verifyUser(world.server, authRequestId, ADA.identifier)).status).to.equal(200);
    expect((await status(id)).status).to.equal('ACTIVE');
  });

  it('disconnects an account, with the session as the actor', async () => {
    const { id } = await world.account();
    const browser = new TestBrowser();
    const { body: session } = await world.session();
    const portal = await browser.follow(await browser.open(session.url));
    const done = await browser.follow(await world.press(browser, portal, `/portal/accounts/${id}/disconnect`));
    expect(done.text).to.include('The account is disconnected.').and.include('Disconnected</span>');
    expect(await status(id)).to.include({ status: 'DISCONNECTED', status_reason: 'Disconnected by its user.' });
    const record = (await auditOf(world.server, id)).find(({ action }) => action === 'connected_account.disconnected');
    expect(record).to.include({ actor: session.id });
    expect((await auditOf(world.server, session.id)).map(({ action }) => action)).to.have.members([
      'portal_session.created',
      'portal_session.opened',
    ]);
    expect((await execute(world.server, id, 'http_get', { path: '/' })).status).not.to.equal(200);
  });

  it('revokes the access of an agent from its next request', async () => {
    const { access_token: token } = await world.tokens();
    expect((await world.listTools(token)).status).to.equal(200);
    const [grant] = await world.grants();
    const browser = new TestBrowser();
    const done = await browser.follow(
      await world.press(browser, await world.enter(browser), `/portal/grants/${grant?.id}/revoke`),
    );
    expect(done.text).to.include('The access is revoked.').and.include('No agent has access');
    expect((await world.listTools(token)).status).to.equal(401);
    const [record] = (await auditOf(world.server, grant?.id ?? '')).filter(
      ({ action }) => action === 'mcp_grant.revoked',
    );
    expect(record?.details).to.deep.equal({ reason: 'REVOKED_BY_USER' });
    expect(record?.actor).to.match(/^psn_/);
  });

  it('offers only connections that are ready and whose users can be verified', async () => {
    await createConnection(world.server, {
      connector: (await createProvider(world.server, { display_name: 'Acme Desk' })).identifier,
    });
    await createConnection(world.server, { connector: 'gitlab', key_id: 'draft' });
    const offered = withoutIsolation((await world.enter()).text);
    expect(offered).to.include('Acme Desk').and.not.include('GitLab');
    const without = withoutIsolation((await world.enter(new TestBrowser(), { user_verify_url: undefined })).text);
    expect(without, 'without an address that verifies users').not.to.include('Acme Desk');
  });

  it('links back to the application, and ends when the user signs out', async () => {
    const browser = new TestBrowser();
    const portal = await world.enter(browser, { return_url: RETURN_URL });
    const out = await world.press(browser, portal, '/portal/sign_out');
    expect(out.location).to.equal(RETURN_URL);
    expect((await browser.open(`${world.server.origin}/portal`)).status).to.equal(410);
    expect(browser.cookie(world.server.origin, 'valetkey-portal')).to.equal(undefined);
  });

  it('uses the language of the session, then of the browser', async () => {
    const german = await world.enter(new TestBrowser(), { language: 'de' });
    expect(german.text).to.include('<html lang="de" dir="ltr">').and.include('Ihre Verbindungen');
    const arabic = await world.enter(new TestBrowser(), { language: 'ar' });
    expect(arabic.text).to.include('<html lang="ar" dir="rtl">');
  });

  it('ends an hour after it was opened, and when the API client that created it is disabled', async () => {
    const browser = new TestBrowser();
    await world.enter(browser);
    const home = `${world.server.origin}/portal`;
    world.clock.advance(59 * 60_000);
    expect((await browser.open(home)).status).to.equal(200);
    world.clock.advance(60_000);
    expect((await browser.open(home)).status).to.equal(410);
  });

  it('removes expired sessions from the database', async () => {
    const { session, clock, server, stop } = await startPortalWorld({ overrides: NO_BACKGROUND });
    try {
      await session();
      const { id } = await server.parts.environmentOf('127.0.0.1');
      const sweep = () => server.parts.store.write((tx) => tx.portalSessions.sweep(id, clock.now(), 10));
      expect(await sweep()).to.equal(0);
      clock.advance(600_000);
      expect(await sweep()).to.equal(1);
    } finally {
      await stop();
    }
  });

  it('shows accounts of exactly its user', async () => {
    await world.account({ identifier: 'of-ada' });
    await world.account({ user_id: 'user_bob', identifier: 'of-bob' });
    await world.account({ organization_id: 'org_other', identifier: 'of-ada-elsewhere' });
    const { text } = await world.enter();
    expect(text).to.include('of-ada<').and.not.include('of-bob').and.not.include('of-ada-elsewhere');
    const alone = await world.enter(new TestBrowser(), { ...OWNER, organization_id: undefined });
    expect(alone.text, 'no organization means: accounts without one').to.include('No account is connected yet.');
  });
});
