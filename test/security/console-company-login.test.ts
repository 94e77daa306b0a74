import { expect } from 'chai';
import { OPERATORS } from '../../core/budgets.ts';
import { freePort } from '../../scripts/demo/process.ts';
import { altered } from '../support/altered.ts';
import { type AuthorizationServer, startAuthorizationServer } from '../support/authorization-server.ts';
import { TestBrowser } from '../support/browser.ts';
import { callConsole, cookieOf } from '../support/operators.ts';
import { addSecondEnvironment } from '../support/second-environment.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const CLIENT = { client_id: 'valetkey-console', client_secret: 'secret-of-the-console' };
const CALLBACK = '/console/session/callback';

/** The claims of the company's provider about each of its users. */
const PEOPLE: Record<string, Record<string, unknown>> = {
  ada: { email: 'ada@acme.example', email_verified: true, groups: ['staff', 'platform-admins'] },
  grace: { email: 'grace@acme.example', email_verified: true, groups: 'support' },
  both: { email: 'both@acme.example', email_verified: true, groups: ['support', 'developers'] },
  guest: {
    email: 'guest@acme.example',
    email_verified: true,
    groups: ['staff', 'platform-admins-old', 'owner', 'OWNER'],
  },
  none: { email: 'none@acme.example', email_verified: true },
  liar: { email: 'ada@acme.example', email_verified: false, groups: ['platform-admins'] },
  text: { email: 'text@acme.example', email_verified: 'true', groups: ['platform-admins'] },
  nested: { email: 'nested@acme.example', email_verified: true, groups: [['platform-admins']] },
  line: { email: 'a\nb@acme.example', email_verified: true, groups: ['platform-admins'] },
};

describe('login to the console at the OpenID provider of the company', () => {
  let company: AuthorizationServer;
  let server: TestServer;
  let clockAhead = 0;

  before(async () => {
    company = await startAuthorizationServer({ name: 'company', claimsOf: (login) => PEOPLE[login] ?? {} });
    server = await start();
    await company.register({ ...CLIENT, redirect_uris: [`${server.origin}${CALLBACK}`] });
  });
  beforeEach(() => {
    clockAhead = 0;
  });
  after(async () => {
    await server.stop();
    await company.stop();
  });

  async function start(env: Record<string, string> = {}): Promise<TestServer> {
    const port = String(await freePort());
    return startTestServer({
      env: {
        PORT: port,
        METRICS_PORT: '0',
        BASE_URL: `http://127.0.0.1:${port}`,
        VALETKEY_ENDPOINT_OVERRIDES: company.override,
        VALETKEY_CONSOLE_OIDC_ISSUER: company.issuer,
        VALETKEY_CONSOLE_OIDC_CLIENT_ID: CLIENT.client_id,
        VALETKEY_CONSOLE_OIDC_CLIENT_SECRET: CLIENT.client_secret,
        VALETKEY_CONSOLE_OIDC_ROLES: 'owner=platform-admins; editor=developers; viewer=support',
        ...env,
      },
      // The provider puts the time of the machine into its tokens, so the server must use the same clock.
      overrides: { now: () => Date.now() + clockAhead },
    });
  }

  /**
   * Begins a login as the login page does, and signs in at the provider.
   *
   * @returns the callback, which was not opened yet
   */
  async function callbackOf(login = 'ada', answer = 'allow') {
    const begun = await callConsole(server, ':begin');
    expect(begun.status, begun.text).to.equal(200);
    const cookie = cookieOf(begun);
    const browser = new TestBrowser({ hosts: { [company.issuer]: company.target } });
    const form = await browser.follow(await browser.open(begun.body.url));
    const isCallback = (url: URL) => url.pathname === CALLBACK;
    const page = await browser.follow(await browser.submit(form.url, { login, answer }), isCallback);
    return { begun, cookie, callback: new URL(page.location as string) };
  }

  /** Opens a callback with a cookie. @returns where the browser goes */
  async function open(callback: URL, cookie?: string) {
    const path = `${callback.pathname}${callback.search}`;
    const headers = { 'sec-fetch-site': 'cross-site', 'valetkey-console': '', ...(cookie !== undefined && { cookie }) };
    const answer = await server.call('GET', path, { token: null, headers });
    const location = new URL(String(answer.headers['location'] ?? 'about:blank'));
    return { answer, location, failed: location.searchParams.get('failed'), token: location.hash.slice(1) };
  }

  /** Runs a whole login. @returns the session, or why there is none */
  async function logIn(login: string) {
    const { callback, cookie } = await callbackOf(login);
    const { token, failed } = await open(callback, cookie);
    if (failed !== null) return { failed };
    const session = await callConsole(server, '', { body: { token } });
    const issued = await callConsole(server, ':token', { cookie: cookieOf(session) });
    return { failed, ...issued.body.operator_session, scopes: issued.body.scopes as string[] };
  }

  for (const [login, role, name] of [
    ['ada', 'OWNER', 'ada@acme.example'],
    ['grace', 'VIEWER', 'grace@acme.example'],
    ['both', 'EDITOR', 'both@acme.example'],
  ] as const) {
    it(`gives ${login} the role ${role} from the configured claim`, async () => {
      const session = await logIn(login);
      expect(session).to.include({ failed: null, role, operator: name });
      expect(session.scopes.includes('admin')).to.equal(role === 'OWNER');
    });
  }

  for (const login of ['guest', 'none', 'nested', 'liar', 'text', 'line']) {
    it(`gives ${login} no session: ${JSON.stringify(PEOPLE[login])}`, async () => {
      const { body } = await server.call('GET', '/api/v1/operator_sessions');
      expect(await logIn(login)).to.deep.equal({ failed: 'no_role' });
      expect((await server.call('GET', '/api/v1/operator_sessions')).body.total_size).to.equal(body.total_size);
    });
  }

  it('tells the login page that a provider exists, and nothing else', async () => {
    const { body } = await callConsole(server, ':options');
    expect(body).to.deep.equal({ company_login_host: 'company.example' });
    const { cookie, begun } = await callbackOf();
    expect(begun.headers['set-cookie']).to.match(/^valetkey-console-login=[\w-]+; Path=\/; HttpOnly; SameSite=Lax$/);
    const text = `${JSON.stringify(begun.headers)} ${begun.text} ${cookie}`;
    expect(text).not.to.include(CLIENT.client_secret);
  });

  it('sends PKCE, a state and a nonce that differ each time', async () => {
    const [first, second] = [await callConsole(server, ':begin'), await callConsole(server, ':begin')];
    const queries = [first, second].map(({ body }) => new URL(body.url).searchParams);
    for (const name of ['state', 'nonce', 'code_challenge']) {
      const values = queries.map((query) => query.get(name));
      expect(values[0], name).to.have.lengthOf.at.least(43);
      expect(values[0], name).not.to.equal(values[1]);
    }
    expect(queries[0]?.get('code_challenge_method')).to.equal('S256');
    expect(queries[0]?.get('redirect_uri')).to.equal(`${server.origin}${CALLBACK}`);
  });

  it('refuses the callback in another browser (session fixation)', async () => {
    const attacker = await callbackOf('ada');
    const victim = await callbackOf('grace');
    expect((await open(attacker.callback)).failed).to.equal('over');
    expect((await open(attacker.callback, victim.cookie)).failed).to.equal('failed');
    const own = await callbackOf('ada');
    expect((await open(own.callback, own.cookie)).failed, 'the control').to.equal(null);
  });

  it('accepts a callback once, and removes its cookie', async () => {
    const { callback, cookie } = await callbackOf();
    const { failed, answer } = await open(callback, cookie);
    expect(failed).to.equal(null);
    expect(answer.headers['set-cookie']).to.match(/^valetkey-console-login=; Max-Age=0/);
    expect((await open(callback, cookie)).failed).to.equal('failed');
  });

  it('refuses a state of another login, without sending the code', async () => {
    const { callback, cookie } = await callbackOf();
    const hits = company.hits('/token');
    for (const state of ['', 'x'.repeat(43), null]) {
      const changed = new URL(callback);
      if (state === null) changed.searchParams.delete('state');
      else changed.searchParams.set('state', state);
      expect((await open(changed, cookie)).failed).to.equal('failed');
    }
    const twice = new URL(`${callback}&state=${callback.searchParams.get('state')}`);
    expect((await open(twice, cookie)).failed).to.equal('failed');
    expect(company.hits('/token')).to.equal(hits);
  });

  it('refuses a callback of another issuer (mix-up), without sending it the code', async () => {
    const { callback, cookie } = await callbackOf();
    const hits = company.hits('/token');
    for (const issuer of ['https://evil.example', null]) {
      const changed = new URL(callback);
      if (issuer === null) changed.searchParams.delete('iss');
      else changed.searchParams.set('iss', issuer);
      expect((await open(changed, cookie)).failed).to.equal('failed');
    }
    expect(company.hits('/token')).to.equal(hits);
  });

  it('refuses a code that was issued for another login, because its verifier and nonce differ', async () => {
    const [attacker, victim] = [await callbackOf('grace'), await callbackOf('ada')];
    attacker.callback.searchParams.set('code', victim.callback.searchParams.get('code') as string);
    expect((await open(attacker.callback, attacker.cookie)).failed).to.equal('failed');
  });

  it('ends a login after its time, and refuses an altered cookie', async () => {
    const { callback, cookie } = await callbackOf();
    expect((await open(callback, altered(cookie))).failed).to.equal('over');
    expect((await open(callback, `${cookie}; ${cookie}`)).failed, 'two cookies').to.equal('over');
    clockAhead = OPERATORS.companyLoginMs;
    expect((await open(callback, cookie)).failed).to.equal('over');
  });

  it('separates the logins of environments (C1)', async () => {
    const other = await addSecondEnvironment(server);
    const { callback, cookie } = await callbackOf();
    const value = cookie.split('=')[1];
    const headers = { cookie: `__Host-valetkey-console-login=${value}` };
    const answer = await other.call('GET', `${callback.pathname}${callback.search}`, { token: null, headers });
    expect(String(answer.headers['location'])).to.match(/failed=over$/);
  });

  it('reports that the user denied the login, without text of the provider', async () => {
    const { callback, cookie } = await callbackOf('ada', 'deny');
    const { failed, answer } = await open(callback, cookie);
    expect(failed).to.equal('denied');
    expect(`${answer.text} ${JSON.stringify(answer.headers)}`).not.to.match(/alert|script/);
  });

  it('begins only from pages of the console (CSRF)', async () => {
    const answer = await callConsole(server, ':begin', { headers: { 'sec-fetch-site': 'cross-site' } });
    expect(answer.body).to.include({ status: 403, code: 'ORIGIN_NOT_ALLOWED' });
    expect((await callConsole(server, '/callback', { method: 'POST' })).status).to.equal(405);
  });

  it('rejects an issuer that does not identify itself as configured', async () => {
    const one = await start({ VALETKEY_CONSOLE_OIDC_ISSUER: `${company.issuer}/tenant` });
    const answer = await callConsole(one, ':begin');
    expect(answer.body).to.include({ status: 503, code: 'SERVER_BUSY' });
    await one.stop();
  });

  it('does not finish a login that began with another client', async () => {
    const { callback, cookie } = await callbackOf();
    const one = await start({ VALETKEY_CONSOLE_OIDC_CLIENT_ID: 'another-client' });
    const path = `${callback.pathname}${callback.search}`;
    const answer = await one.call('GET', path, { token: null, headers: { cookie } });
    expect(String(answer.headers['location'])).to.match(/failed=over$/);
    await one.stop();
  });

  it('does not exist without settings', async () => {
    const plain = await startTestServer();
    expect((await callConsole(plain, ':options')).body).to.deep.equal({ company_login_host: null });
    expect((await callConsole(plain, ':begin')).body).to.include({ status: 404, code: 'NOT_FOUND' });
    const answer = await plain.call('GET', `${CALLBACK}?code=x&state=y`, { token: null });
    expect(String(answer.headers['location'])).to.match(/failed=over$/);
    await plain.stop();
  });

  it('records the operator of the session, not the provider', async () => {
    await logIn('ada');
    const { body } = await server.call('GET', '/api/v1/audit_events?action=operator_session.opened');
    expect(body.audit_events[0].actor).to.equal('operator:ada@acme.example');
    expect(body.audit_events[0].details).to.deep.equal({ operator: 'ada@acme.example', role: 'OWNER' });
  });
});
