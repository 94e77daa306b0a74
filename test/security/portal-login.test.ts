import { expect } from 'chai';
import { MCP_LOGIN } from '../../core/budgets.ts';
import { type AuthorizationServer, startAuthorizationServer } from '../support/authorization-server.ts';
import { type BrowserPage, TestBrowser } from '../support/browser.ts';
import { type PortalWorld, startPortalWorld } from '../support/portal.ts';
import { addSecondEnvironment } from '../support/second-environment.ts';

const PATH = '/api/v1/mcp/login_provider';
const CLIENT = { client_id: 'valetkey', client_secret: 'secret-of-valetkey' };
const CALLBACK = '/portal/login/callback';
const LOGIN = 'Log in to see and manage your connected accounts.';

/** The claims of the company's provider about each of its users. */
const PEOPLE: Record<string, Record<string, unknown>> = {
  ada: { email: 'ada@acme.test', email_verified: true, name: 'org_acme' },
  liar: { email: 'ada@acme.test', email_verified: false, name: 'org_acme' },
  stranger: { email: 'eve@evil.test', email_verified: true, name: 'org_evil' },
};

describe('U7: login to the portal at the OpenID provider of the company', () => {
  let company: AuthorizationServer;
  let world: PortalWorld;

  before(async () => {
    company = await startAuthorizationServer({ name: 'people', claimsOf: (login) => PEOPLE[login] ?? {} });
    // The provider puts the time of the machine into its tokens, so the server must use the same clock.
    world = await startPortalWorld({
      env: { VALETKEY_ENDPOINT_OVERRIDES: company.override },
      overrides: { now: Date.now },
    });
    const callbacks = [CALLBACK, '/oauth/login/callback'].map((path) => `${world.server.origin}${path}`);
    await company.register({ ...CLIENT, redirect_uris: callbacks });
  });
  beforeEach(() => set());
  after(async () => {
    await world.stop();
    await company.stop();
  });

  async function set(more: Record<string, unknown> = {}): Promise<void> {
    const claims = { identifier: 'email', user_id: 'sub', organization_id: 'name' };
    const body = {
      type: 'OIDC',
      issuer: company.issuer,
      ...CLIENT,
      claims,
      allowed_organizations: ['org_acme'],
      ...more,
    };
    const answer = await world.server.call('PUT', PATH, { body });
    expect(answer.status, answer.text).to.equal(200);
  }

  const newBrowser = () => new TestBrowser({ hosts: { [company.issuer]: company.target } });
  const at = (path: string) => `${world.server.origin}${path}`;

  /** Signs in at the provider. @returns the callback, which the browser has not opened yet */
  async function callbackOf(browser: TestBrowser, login = 'ada', answer = 'allow'): Promise<string> {
    const form = await browser.follow(await browser.open(at('/portal/login')));
    const isCallback = (url: URL) => url.pathname === CALLBACK;
    const page = await browser.follow(await browser.submit(form.url, { login, answer }), isCallback);
    return page.location as string;
  }

  function expectOutside(page: BrowserPage): void {
    expect([page.status, page.location], page.text).to.deep.equal([403, undefined]);
    expect(page.text).to.include('The login did not work').and.not.include('@acme.test');
  }

  it('shows a user their own accounts', async () => {
    await world.account(
      { organization_id: 'org_acme', user_id: 'ada', identifier: 'ada@acme.test' },
      { display_name: 'Acme Notes' },
    );
    await world.account(
      { organization_id: 'org_acme', user_id: 'bob', identifier: 'bob@acme.test' },
      { display_name: 'Bob Notes' },
    );
    const browser = newBrowser();
    const outside = await browser.open(at('/portal'));
    expect([outside.status, outside.text.includes(LOGIN)]).to.deep.equal([200, true]);
    const home = await browser.follow(await browser.open(await callbackOf(browser)));
    expect([home.status, new URL(home.url).pathname]).to.deep.equal([200, '/portal']);
    expect(home.text).to.include('Acme Notes').and.include('ada@acme.test');
    expect(home.text, 'an application that Ada could connect').to.include('Bob Notes');
    expect(home.text).not.to.include('bob@acme.test');
    const provider = (await world.server.call('GET', PATH)).body.login_provider.id;
    const { audit_events: entries } = (await world.server.call('GET', `/api/v1/audit_events?actor=${provider}`)).body;
    expect(entries[0]).to.include({ action: 'portal_session.created' });
  });

  it('P1: refuses the callback in another browser (fixation, login CSRF)', async () => {
    const [attacker, victim] = [newBrowser(), newBrowser()];
    const callback = await callbackOf(attacker);
    expectOutside(await victim.open(callback));
    await victim.open(at('/portal/login'));
    expectOutside(await victim.open(callback));
    expect((await attacker.open(callback)).status, 'the control').to.equal(303);
  });

  it('P2: refuses a callback that was used', async () => {
    const browser = newBrowser();
    const callback = await callbackOf(browser);
    expect((await browser.open(callback)).status, 'the control').to.equal(303);
    expectOutside(await browser.open(callback));
  });

  it('P3: refuses a callback of another issuer (mix-up), without sending it the code', async () => {
    const browser = newBrowser();
    const callback = new URL(await callbackOf(browser));
    callback.searchParams.set('iss', 'https://evil.example');
    const before = company.hits('/token');
    expectOutside(await browser.open(callback.href));
    expect(company.hits('/token')).to.equal(before);
  });

  it('P4: completes no login of an MCP client as one to the portal', async () => {
    const browser = newBrowser();
    const form = await browser.follow(await world.authorize(browser));
    const isCallback = (url: URL) => url.pathname === '/oauth/login/callback';
    const page = await browser.follow(await browser.submit(form.url, { login: 'ada', answer: 'allow' }), isCallback);
    const { search } = new URL(page.location as string);
    expectOutside(await browser.open(at(`${CALLBACK}${search}`)));
    expect((await browser.open(page.location as string)).status, 'the control').to.equal(303);
  });

  it('P5: admits no user of another organization, and none whose email address is not verified', async () => {
    for (const login of ['stranger', 'liar']) {
      const browser = newBrowser();
      expectOutside(await browser.open(await callbackOf(browser, login)));
      expect((await browser.open(at('/portal'))).text).to.include(LOGIN);
    }
  });

  it('P6: ends the sessions of its users and pending logins when the provider is replaced', async () => {
    const [inside, half] = [newBrowser(), newBrowser()];
    const home = await inside.follow(await inside.open(await callbackOf(inside)));
    expect(home.text, 'the control').to.include('Logged in as');
    const callback = await callbackOf(half);
    await set({ allowed_organizations: null });
    expect((await inside.open(at('/portal'))).text).to.include(LOGIN);
    expectOutside(await half.open(callback));
  });

  it('P7: includes no text of the callback, and reports that the user declined', async () => {
    const browser = newBrowser();
    const state = new URL(await callbackOf(browser)).searchParams.get('state') as string;
    const query = new URLSearchParams({ state, error: 'x<script>', error_description: '<script>alert(1)</script>' });
    const page = await browser.open(at(`${CALLBACK}?${query}`));
    expect(page.text).not.to.include('alert');
    expectOutside(page);
    const declining = newBrowser();
    expectOutside(await declining.open(await callbackOf(declining, 'ada', 'deny')));
  });

  it('P8: begins a limited number of logins for one address', async () => {
    const begin = () => world.server.call('GET', '/portal/login', { token: null });
    const statuses = new Set<number>();
    for (let n = 0; n <= MCP_LOGIN.loginsOfAddress; n++) statuses.add((await begin()).status);
    expect([...statuses].sort()).to.deep.equal([303, 403]);
  });

  it('does not exist in an environment without an OpenID provider', async () => {
    const other = await addSecondEnvironment(world.server);
    for (const path of ['/portal', '/portal/login']) {
      const page = await other.call('GET', path, { token: null });
      expect(page.status).to.equal(410);
      expect(page.text).to.include('This session has ended').and.not.include('/portal/login');
    }
    expect((await other.call('GET', CALLBACK, { token: null })).status).to.equal(410);
    await world.server.call('DELETE', PATH);
    expect((await world.server.call('GET', '/portal/login', { token: null })).status).to.equal(410);
  });
});
