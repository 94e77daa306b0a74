import { expect } from 'chai';
import { auditOf } from '../support/audit.ts';
import { type AuthorizationServer, startAuthorizationServer } from '../support/authorization-server.ts';
import { type BrowserPage, TestBrowser } from '../support/browser.ts';
import { accountOf, allowVerifyUrls, submitLink, VERIFY_URL, verifyUser } from '../support/links.ts';
import { connectMcp } from '../support/mcp.ts';
import { allow, codeOf, type LoginWorld, startLoginWorld } from '../support/mcp-login.ts';
import { ownTool, storeTools } from '../support/own-tools.ts';
import { createConnection, createProvider } from '../support/providers.ts';
import { json, startUpstream, type Upstream } from '../support/upstream.ts';

const PATH = '/api/v1/mcp/login_provider';
const CLIENT = { client_id: 'valetkey', client_secret: 'secret-of-valetkey' };
const ORIGIN = 'https://api.acme.example';
const CALLBACK = '/oauth/login/callback';

/** Links without an application: the OpenID provider of the environment identifies the user who has finished them. */
describe('L22: links whose user the login provider verifies', () => {
  let company: AuthorizationServer;
  let world: LoginWorld;
  let upstream: Upstream;
  let connectionId: string;
  let connector: string;
  let made = 0;

  before(async () => {
    upstream = await startUpstream((_request, res) => json(res, 200, { id: 7 }));
    // The login name also determines the organization of the user: grace-at-acme is grace of acme.
    const claimsOf = (login: string) => {
      const [person, org] = login.split('-at-');
      return { name: person, groups: org ?? 'acme' };
    };
    company = await startAuthorizationServer({ name: 'login', claimsOf });
    world = await startLoginWorld({
      env: { VALETKEY_ENDPOINT_OVERRIDES: `${company.override},${upstream.endpointOverride(ORIGIN)}` },
      // The provider puts the time of the machine into its tokens, so the server must use the same clock.
      overrides: { now: Date.now },
    });
    await company.register({ ...CLIENT, redirect_uris: [`${world.server.origin}${CALLBACK}`] });
    const names = { display_name: 'Acme Things', proxy_enabled: true, proxy_url: ORIGIN };
    connector = (await createProvider(world.server, names)).identifier;
    connectionId = (await createConnection(world.server, { connector })).id;
    await storeTools(world.server, [ownTool(connector, 'acme_get_thing')]);
  });
  beforeEach(() => set());
  after(async () => {
    await world.stop();
    await company.stop();
    await upstream.stop();
  });

  const set = async (change: object = {}) => {
    const body = { type: 'OIDC', issuer: company.issuer, ...CLIENT, claims: { user_id: 'sub' }, ...change };
    const answer = await world.server.call('PUT', PATH, { body });
    expect(answer.status, answer.text).to.equal(200);
  };
  const newBrowser = () => new TestBrowser({ hosts: { [company.issuer]: company.target } });
  const isCallback = (url: URL) => url.pathname === CALLBACK;

  const newLink = async (user: object, more: object = {}) =>
    world.server.call('POST', '/api/v1/connected_accounts/magic_link', { body: { connector, ...user, ...more } });

  /** A new user of the company, and a link for the account of that user. */
  async function someone(more: object = {}) {
    made += 1;
    const name = `user${made}`;
    const answer = await newLink({ user_id: name, identifier: name }, more);
    expect(answer.status, answer.text).to.equal(200);
    return { name, link: answer.body.link as string };
  }

  /** Finishes a link, and signs in at the company. @returns the callback, which the browser has not opened yet */
  async function callbackOf(link: string, login: string, browser: TestBrowser): Promise<string> {
    const form = await browser.follow(await submitLink(browser, link, { api_key: 'secret-typed-key' }));
    expect(form.text, 'the page of the provider').to.include('Sign in');
    const page = await browser.follow(await browser.submit(form.url, { login, answer: 'allow' }), isCallback);
    return page.location as string;
  }

  async function finish(link: string, login: string, browser = newBrowser()): Promise<BrowserPage> {
    return browser.follow(await browser.open(await callbackOf(link, login, browser)));
  }

  const stateOf = async (name: string) => (await accountOf(world.server, name))?.status;

  it('connect the account of a user who logs in for an MCP client without an application', async () => {
    const browser = newBrowser();
    const resource = `${world.server.origin}/mcp/${connectionId}`;
    const form = await browser.follow(await world.authorize(browser, { resource }));
    const signedIn = await browser.submit(form.url, { login: 'ada', answer: 'allow' });
    const consent = await browser.follow(signedIn, ({ hostname }) => hostname === 'client.example');
    const code = codeOf(consent.location ? consent : await allow(browser, consent));
    const { access_token } = (await world.exchange(code, { resource })).body;
    const pages: BrowserPage[] = [];
    const client = await connectMcp(world.server, connectionId, access_token, {
      onLink: async ({ url }) => {
        pages.push(await finish(url, 'ada'));
        return 'accept';
      },
    });
    const result = await client.callTool({ name: 'acme_get_thing', arguments: { number: 7 } });
    await client.close();
    expect(pages.map(({ status, text }) => [status, text.includes('Connected')])).to.deep.equal([[200, true]]);
    expect(JSON.stringify(result)).to.include('"id":7');
    const account = await accountOf(world.server, 'ada');
    const actors = (await auditOf(world.server, account?.id as string)).map(({ actor }) => actor);
    expect(
      actors.some((actor) => actor.startsWith('lgp_')),
      actors.join(' '),
    ).to.equal(true);
  });

  it('make the account of their own user usable (control)', async () => {
    const { name, link } = await someone();
    expect((await finish(link, name)).text).to.include('Connected');
    expect(await stateOf(name)).to.equal('ACTIVE');
  });

  it('give nothing to a sender whose link another user has finished (forwarded link)', async () => {
    const { name, link } = await someone();
    const page = await finish(link, 'victim');
    expect([page.status, page.text]).to.satisfy(
      ([status, text]: [number, string]) => status === 403 && /as a different user/.test(text),
    );
    expect(await stateOf(name)).to.equal('PENDING_VERIFICATION');
  });

  it('compare the organization too, because identifiers are unique only within one', async () => {
    await set({ claims: { identifier: 'name', user_id: 'name', organization_id: 'groups' } });
    const answer = await newLink({ organization_id: 'acme', user_id: 'grace', identifier: 'grace' });
    const { link } = answer.body;
    expect((await finish(link, 'grace-at-evil')).status).to.equal(403);
    expect(await stateOf('grace')).to.equal('PENDING_VERIFICATION');
    const again = (await newLink({ organization_id: 'acme', user_id: 'grace', identifier: 'grace' })).body.link;
    expect((await finish(again, 'grace-at-acme')).status, 'the control').to.equal(200);
    expect(await stateOf('grace')).to.equal('ACTIVE');
  });

  it('are verified in the browser that has finished them, and nowhere else', async () => {
    const { name, link } = await someone();
    const browser = newBrowser();
    const callback = await callbackOf(link, name, browser);
    expect((await newBrowser().open(callback)).status).to.equal(410);
    expect(await stateOf(name)).to.equal('PENDING_VERIFICATION');
    await browser.follow(await browser.open(callback));
    expect(await stateOf(name), 'the control').to.equal('ACTIVE');
    expect((await browser.open(callback)).status, 'twice').to.equal(410);
  });

  it('are not verified by a login that began at another provider', async () => {
    const { name, link } = await someone();
    const browser = newBrowser();
    const callback = await callbackOf(link, name, browser);
    await set({ claims: { user_id: 'sub', identifier: 'name' } });
    expect((await browser.open(callback)).status).to.equal(403);
    expect(await stateOf(name)).to.equal('PENDING_VERIFICATION');
  });

  it('cannot bypass the application: a link with its address is verified by the application only', async () => {
    await allowVerifyUrls(world.server, VERIFY_URL);
    const { name, link } = await someone({ user_verify_url: VERIFY_URL });
    const browser = newBrowser();
    const sent = await submitLink(browser, link, { api_key: 'secret-typed-key' });
    const id = new URL(sent.location as string).searchParams.get('auth_request_id') as string;
    const page = await browser.open(`${world.server.origin}/connect/verify?auth_request_id=${id}`);
    expect(page.status).to.equal(410);
    expect(await stateOf(name)).to.equal('PENDING_VERIFICATION');
    expect((await verifyUser(world.server, id, name)).status, 'the control').to.equal(200);
  });

  it('require an address of the application if no OpenID provider is set', async () => {
    await world.server.call('DELETE', PATH);
    const answer = await newLink({ user_id: 'nobody', identifier: 'nobody' });
    expect([answer.status, answer.body.errors?.[0]?.field]).to.deep.equal([400, 'user_verify_url']);
  });

  it('show the page of an ended link to a mail scanner, another user, and for a guessed token', async () => {
    const { name, link } = await someone();
    const browser = newBrowser();
    const sent = await submitLink(browser, link, { api_key: 'secret-typed-key' });
    const address = sent.location as string;
    expect(new URL(address).pathname).to.equal('/connect/verify');
    const head = await world.server.call('HEAD', new URL(address).pathname + new URL(address).search, { token: null });
    expect(head.status).to.equal(410);
    expect((await browser.open(`${world.server.origin}/connect/verify`)).status).to.equal(410);
    expect((await browser.open(`${world.server.origin}/connect/verify?auth_request_id=guess`)).status).to.equal(410);
    expect(await stateOf(name)).to.equal('PENDING_VERIFICATION');
    expect(JSON.stringify(world.server.logs)).to.not.include(new URL(address).searchParams.get('auth_request_id'));
  });
});
