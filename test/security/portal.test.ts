import { expect } from 'chai';
import { PORTAL } from '../../core/budgets.ts';
import { unknownId } from '../support/accounts.ts';
import { createApiClient } from '../support/api-clients.ts';
import { auditOf } from '../support/audit.ts';
import { type BrowserPage, TestBrowser } from '../support/browser.ts';
import { execute } from '../support/execute.ts';
import { returned, submitLink, verifyUser } from '../support/links.ts';
import { ADA } from '../support/mcp-login.ts';
import { ownTool, storeTools } from '../support/own-tools.ts';
import { formToken, type PortalWorld, RETURN_URL, startPortalWorld } from '../support/portal.ts';
import { createConnection, createProvider } from '../support/providers.ts';
import { addSecondEnvironment } from '../support/second-environment.ts';

const BOB = { organization_id: 'org_acme', user_id: 'user_bob', identifier: 'bob@acme.test' };
const COOKIE = 'valetkey-portal';

/** Attacks on the portal. Each test has a control, which fails if the portal rejects everything. */
describe('attacks on the portal', () => {
  let world: PortalWorld;
  let home: string;

  before(async () => {
    world = await startPortalWorld();
    home = `${world.server.origin}/portal`;
  });
  after(() => world.stop());

  const statusOf = async (id: string): Promise<string> =>
    (await world.server.call('GET', `/api/v1/connected_accounts/details?id=${id}`)).body.connected_account.status;
  const isOver = (page: BrowserPage, status = 410) => {
    expect([page.status, page.location], page.text).to.deep.equal([status, undefined]);
    expect(page.text).to.include('This session has ended').and.not.include('@acme.test');
  };
  const disconnect = (id: string) => `/portal/accounts/${id}/disconnect`;
  /** Sends the form of an action with any token. */
  const forge = (browser: TestBrowser, action: string, token: string, headers = {}) =>
    browser.submit(`${world.server.origin}${action}`, { form_token: token }, headers);

  describe('U1: fixation', () => {
    it('ignores a session secret that the attacker has planted in the browser', async () => {
      const planted = 'x'.repeat(43);
      const victim = new TestBrowser();
      victim.setCookie(world.server.origin, COOKIE, planted);
      isOver(await victim.open(home));
      await world.enter(victim);
      expect(victim.cookie(world.server.origin, COOKIE), 'a new secret after the opening').not.to.equal(planted);
    });

    it('opens nothing with two cookies of the same name', async () => {
      const browser = new TestBrowser();
      await world.enter(browser);
      const secret = browser.cookie(world.server.origin, COOKIE) ?? '';
      const twice = await world.server.call('GET', '/portal', {
        token: null,
        headers: { cookie: `${COOKIE}=${secret}; ${COOKIE}=${secret}` },
      });
      expect(twice.status).to.equal(410);
      const once = await world.server.call('GET', '/portal', {
        token: null,
        headers: { cookie: `${COOKIE}=${secret}` },
      });
      expect(once.status, 'the control').to.equal(200);
    });

    it("connects nothing to the attacker's account, because the application verifies the user who finished the link", async () => {
      const { id } = await world.account({ ...BOB, identifier: 'bob-1' });
      const victim = new TestBrowser();
      const page = await world.enter(victim, { ...BOB, identifier: 'bob-1' });
      const { location = '' } = await world.press(victim, page, `/portal/accounts/${id}/reconnect`);
      const { authRequestId } = returned(await submitLink(victim, location, { api_key: 'key-of-the-victim-01' }));
      const refused = await verifyUser(world.server, authRequestId, ADA.identifier);
      expect([refused.status, refused.body.code]).to.deep.equal([403, 'IDENTIFIER_MISMATCH']);
      expect((await verifyUser(world.server, authRequestId, 'bob-1')).status, 'the control').to.equal(200);
    });
  });

  describe('U2: the one-time URL', () => {
    it('works once, also for 8 browsers at the same moment', async () => {
      const { url } = (await world.session()).body;
      const pages = await Promise.all(Array.from({ length: 8 }, () => new TestBrowser().open(url)));
      expect(pages.map(({ status }) => status).sort()).to.deep.equal([303, ...Array(7).fill(410)]);
      isOver(await new TestBrowser().open(url));
    });

    it('is not used up by a HEAD request of a scanner', async () => {
      const { url } = (await world.session()).body;
      const scanned = await new TestBrowser().open(url, 'HEAD');
      expect([scanned.status, scanned.headers['set-cookie']]).to.deep.equal([410, undefined]);
      expect((await new TestBrowser().open(url)).status, 'the control').to.equal(303);
    });

    it('expires after ten minutes', async () => {
      const [early, late] = [(await world.session()).body.url, (await world.session()).body.url];
      world.clock.advance(600_000 - 1);
      expect((await new TestBrowser().open(early)).status, 'the control').to.equal(303);
      world.clock.advance(1);
      isOver(await new TestBrowser().open(late));
    });

    it('is not the secret of the session, and the session has no URL', async () => {
      const { url } = (await world.session()).body;
      const secret = url.split('/').at(-1) as string;
      const thief = new TestBrowser();
      thief.setCookie(world.server.origin, COOKIE, secret);
      isOver(await thief.open(home));
      const browser = new TestBrowser();
      await browser.open(url);
      isOver(await thief.open(home));
      isOver(await new TestBrowser().open(`${home}/open/${browser.cookie(world.server.origin, COOKIE)}`));
    });

    it('is not leaked to another site: redirects have no content, and no page sends a referrer', async () => {
      const { url } = (await world.session({ return_url: RETURN_URL })).body;
      const browser = new TestBrowser();
      const opened = await browser.open(url);
      expect(opened.headers).to.include({ 'referrer-policy': 'no-referrer', 'cache-control': 'no-store' });
      expect([opened.text, opened.location]).to.deep.equal(['', home]);
      const portal = await browser.open(home);
      expect(portal.headers).to.include({ 'referrer-policy': 'no-referrer', 'cache-control': 'no-store' });
      expect(portal.text)
        .not.to.include(url.split('/').at(-1))
        .and.not.include(browser.cookie(world.server.origin, COOKIE));
      const logs = world.server.logs.join('\n');
      expect(logs).not.to.include(url.split('/').at(-1));
    });
  });

  describe('U3: forged requests (CSRF)', () => {
    it('accepts a form only with the token of the page, from its own site', async () => {
      const { id } = await world.account({ identifier: 'csrf' });
      const browser = new TestBrowser();
      const page = await world.enter(browser);
      const token = formToken(page, disconnect(id));
      for (const [what, sent, headers] of [
        ['no token', '', {}],
        ['a wrong token', 'A'.repeat(43), {}],
        ['another site', token, { 'sec-fetch-site': 'cross-site' }],
        ['a sibling host', token, { 'sec-fetch-site': 'same-site' }],
        ['another origin', token, { 'sec-fetch-site': undefined as never, origin: 'https://evil.example' }],
      ] as const) {
        isOver(await forge(browser, disconnect(id), sent, headers), 403);
        expect(await statusOf(id), what).to.equal('ACTIVE');
      }
      expect((await forge(browser, disconnect(id), token)).status, 'the control').to.equal(303);
      expect(await statusOf(id)).to.equal('DISCONNECTED');
    });

    it('accepts the token of one form for no other action, object or session', async () => {
      const [one, two] = [await world.account({ identifier: 'one' }), await world.account({ identifier: 'two' })];
      const [browser, other] = [new TestBrowser(), new TestBrowser()];
      const [page, elsewhere] = [await world.enter(browser), await world.enter(other)];
      for (const token of [
        formToken(page, disconnect(two.id)),
        formToken(page, `/portal/accounts/${one.id}/reconnect`),
        formToken(page, '/portal/sign_out'),
        formToken(elsewhere, disconnect(one.id)),
      ]) {
        isOver(await forge(browser, disconnect(one.id), token), 403);
      }
      expect(await statusOf(one.id)).to.equal('ACTIVE');
    });

    it('changes nothing for GET, and signs no user out from another site', async () => {
      const { id } = await world.account({ identifier: 'get' });
      const browser = new TestBrowser();
      await world.enter(browser);
      expect((await browser.open(`${world.server.origin}${disconnect(id)}`)).status).to.equal(405);
      isOver(await forge(browser, '/portal/sign_out', ''), 403);
      expect((await browser.open(home)).status).to.equal(200);
      expect(await statusOf(id)).to.equal('ACTIVE');
    });

    it('sets a cookie that scripts cannot read and that other sites do not send with forms', async () => {
      const { url } = (await world.session()).body;
      const { headers } = await new TestBrowser().open(url);
      expect(headers['set-cookie']).to.match(/; Path=\/; HttpOnly; SameSite=Lax$/);
    });
  });

  describe('U4: resources of another user', () => {
    it('cannot be changed, and have the same response as those that do not exist', async () => {
      const { id } = await world.account({ ...BOB, identifier: 'bob-2' });
      await world.tokens({}, BOB);
      const grants = (await world.grants('?user_id=user_bob')) as { id: string }[];
      const grant = grants[0]?.id ?? '';
      const browser = new TestBrowser();
      const page = await world.enter(browser, { ...BOB, identifier: 'bob-2' });
      const tokens = {
        account: formToken(page, disconnect(id)),
        grant: formToken(page, `/portal/grants/${grant}/revoke`),
      };
      const ada = new TestBrowser();
      await world.enter(ada);
      isOver(await forge(ada, disconnect(id), tokens.account), 403);
      isOver(await forge(ada, `/portal/grants/${grant}/revoke`, tokens.grant), 403);
      expect(await statusOf(id)).to.equal('ACTIVE');
      expect(await world.grants('?user_id=user_bob')).to.have.lengthOf(1);
    });

    it('return the same response for a foreign, an unknown and a malformed id, even with a valid token', async () => {
      const { id } = await world.account({ ...BOB, identifier: 'bob-3' });
      await world.tokens({}, BOB);
      const [grant] = (await world.grants('?user_id=user_bob')) as { id: string }[];
      const browser = new TestBrowser();
      await world.enter(browser);
      const secret = browser.cookie(world.server.origin, COOKIE) ?? '';
      const tokenOf = (action: string) =>
        world.server.parts.digester.digest('portal: form', secret, action).toString('base64url');
      const responses = [];
      for (const [kind, action, ids] of [
        ['accounts', 'disconnect', [id, unknownId('ca'), 'x', '%00', "'--"]],
        ['accounts', 'reconnect', [id, unknownId('ca'), 'x']],
        ['grants', 'revoke', [grant?.id ?? '', unknownId('grt'), 'x']],
        ['connections', 'connect', [unknownId('conn'), 'x']],
      ] as const) {
        for (const one of ids) {
          const token = tokenOf(`${action} ${decodeURIComponent(one)}`);
          const { status, location, text } = await forge(browser, `/portal/${kind}/${one}/${action}`, token);
          responses.push([status, location, text].join(' '));
        }
      }
      expect(new Set(responses)).to.deep.equal(new Set([`303 ${home}?done=impossible `]));
      expect(await statusOf(id)).to.equal('ACTIVE');
      const left = (await world.grants('?user_id=user_bob')) as { id: string }[];
      expect(left.map((one) => one.id)).to.include(grant?.id);
    });

    it('are not visible through a session of another environment', async () => {
      const other = await addSecondEnvironment(world.server, { host: 'other.example.test' });
      const { url } = (await world.session()).body;
      const path = new URL(url).pathname;
      const foreign = await world.server.call('GET', path, { token: null, headers: { host: other.host } });
      expect(foreign.status).to.equal(410);
      const browser = new TestBrowser();
      expect((await browser.open(url)).status, 'the control').to.equal(303);
      const secret = browser.cookie(world.server.origin, COOKIE);
      for (const cookie of [`__Host-${COOKIE}=${secret}`, `${COOKIE}=${secret}`]) {
        const page = await world.server.call('GET', '/portal', { token: null, headers: { host: other.host, cookie } });
        expect(page.status).to.equal(410);
      }
    });

    it('are not affected: a link connects the account of exactly this owner, not of the same user in another organization', async () => {
      const { id, provider } = await world.account({ identifier: ADA.identifier, organization_id: 'org_foreign' });
      const { body } = await world.server.call('GET', `/api/v1/connections?provider=CUSTOM`);
      const connection = body.connections.find((one: { provider_key: string }) => one.provider_key === provider);
      const browser = new TestBrowser();
      const page = await world.enter(browser, { organization_id: undefined });
      const { location = '' } = await world.press(browser, page, `/portal/connections/${connection.id}/connect`);
      const { authRequestId } = returned(await submitLink(browser, location, { api_key: 'key-of-ada-alone-0123' }));
      expect((await verifyUser(world.server, authRequestId, ADA.identifier)).status).to.equal(200);
      const query = `user_id=${ADA.user_id}&provider=${provider}`;
      const { body: list } = await world.server.call('GET', `/api/v1/connected_accounts?${query}`);
      expect(list.connected_accounts.map((one: { organization_id: string }) => one.organization_id)).to.have.members([
        '',
        'org_foreign',
      ]);
      const { body: foreign } = await world.server.call('GET', `/api/v1/connected_accounts/auth?id=${id}`);
      expect(JSON.stringify(foreign)).to.include('acme-key-of-ada-0123');
    });
  });

  describe('U5: sessions that have ended', () => {
    it('give no access after signing out, with a cookie that was stolen before', async () => {
      const browser = new TestBrowser();
      const page = await world.enter(browser);
      const secret = browser.cookie(world.server.origin, COOKIE) ?? '';
      await world.press(browser, page, '/portal/sign_out');
      const thief = new TestBrowser();
      thief.setCookie(world.server.origin, COOKIE, secret);
      isOver(await thief.open(home));
    });

    it('give no access after an hour, and their forms change nothing', async () => {
      const { id } = await world.account({ identifier: 'late' });
      const browser = new TestBrowser();
      const token = formToken(await world.enter(browser), disconnect(id));
      world.clock.advance(PORTAL.sessionMs - 1);
      expect((await browser.open(home)).status, 'the control').to.equal(200);
      world.clock.advance(1);
      isOver(await browser.open(home));
      isOver(await forge(browser, disconnect(id), token));
      expect(await statusOf(id)).to.equal('ACTIVE');
    });

    it('give no access when the API client that created them was disabled, before and after their opening', async () => {
      const client = await createApiClient(world.server, ['accounts:write']);
      const { access_token: token } = (await client.requestToken()).body;
      const create = () => world.server.call('POST', '/api/v1/portal_sessions', { body: ADA, token });
      const [first, second] = [(await create()).body.url, (await create()).body.url];
      const browser = new TestBrowser();
      expect((await browser.follow(await browser.open(first))).status, 'the control').to.equal(200);
      await world.server.call('POST', `/api/v1/api_clients/${client.id}:disable`);
      isOver(await browser.open(home));
      isOver(await new TestBrowser().open(second));
    });

    it('repeat no disconnection: a form that is sent again changes nothing, and nothing at all after the user has signed out', async () => {
      const { id } = await world.account({ identifier: 'replay' });
      const browser = new TestBrowser();
      const page = await world.enter(browser);
      const token = formToken(page, disconnect(id));
      await forge(browser, disconnect(id), token);
      const { location: again } = await forge(browser, disconnect(id), token);
      expect(again).to.equal(`${home}?done=disconnected`);
      const actions = (await auditOf(world.server, id)).map(({ action }) => action);
      expect(actions.filter((action) => action === 'connected_account.disconnected')).to.have.lengthOf(1);
      await world.press(browser, await browser.open(home), '/portal/sign_out');
      isOver(await forge(browser, disconnect(id), token));
    });
  });

  describe('U6: hostile names and addresses', () => {
    const HOSTILE = `"><script>alert(1)</script><img src=x onerror=alert(1)>'{{7*7}}`;

    it('are shown as text for a provider, an account, a tool and a client', async () => {
      const { id, provider } = await world.account({ identifier: HOSTILE }, { display_name: HOSTILE });
      await createConnection(world.server, {
        connector: (await createProvider(world.server, { display_name: `${HOSTILE} 2` })).identifier,
      });
      const tool = ownTool(provider, 'hostile_get_thing', { title: HOSTILE });
      await storeTools(world.server, [tool]);
      const ran = await execute(world.server, id, tool.name, { number: 1 });
      expect(ran.status, ran.text).to.equal(200);
      const { body: client } = await world.register({ client_name: HOSTILE });
      const of = { client_id: client.client_id, redirect_uri: 'http://127.0.0.1/callback' };
      expect((await world.exchange(await world.login(of), of)).status).to.equal(200);
      const { text, headers } = await world.enter(new TestBrowser(), { identifier: HOSTILE });
      const escaped = '&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;';
      for (const place of [
        'Logged in as <bdi>',
        'id="account_0"><bdi>',
        'class="identifier"><bdi>',
        'id="connectable_0"><bdi>',
        'id="agent_0"><bdi>',
        'class="tool"><bdi>',
      ]) {
        // In long names, a line may break before each sign.
        expect(text.replaceAll('<wbr>', '')).to.include(`${place}${escaped}`);
      }
      expect(text).not.to.match(/<script|<img src=x/);
      expect(headers['content-security-policy']).to.match(/^default-src 'none'; style-src 'self'; img-src 'self';/);
    });

    it('cannot add notices to the portal', async () => {
      const browser = new TestBrowser();
      await world.enter(browser);
      const { text } = await browser.open(`${home}?done=${encodeURIComponent(HOSTILE)}`);
      expect(text).not.to.include('role="status"');
    });

    it('ignores a return URL in the sign-out request', async () => {
      const browser = new TestBrowser();
      const page = await world.enter(browser, { return_url: RETURN_URL });
      const token = formToken(page, '/portal/sign_out');
      const evil = 'https://evil.example/';
      const out = await browser.submit(`${home}/sign_out?return_url=${evil}`, { form_token: token, return_url: evil });
      expect(out.location).to.equal(RETURN_URL);
    });

    it('cannot frame it or add a script', async () => {
      const browser = new TestBrowser();
      for (const page of [await browser.open(home), await world.enter(browser)]) {
        expect(page.headers['x-frame-options']).to.equal('DENY');
        expect(page.headers['content-security-policy'])
          .to.include("frame-ancestors 'none'")
          .and.include("base-uri 'none'");
        expect(page.headers['content-security-policy']).not.to.include('script-src');
        expect(page.headers['cross-origin-resource-policy']).to.equal('same-origin');
      }
    });
  });
});
