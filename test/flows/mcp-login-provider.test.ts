import { expect } from 'chai';
import { createAccount } from '../support/accounts.ts';
import { type AuthorizationServer, startAuthorizationServer } from '../support/authorization-server.ts';
import { type BrowserPage, TestBrowser } from '../support/browser.ts';
import { testClock } from '../support/clock.ts';
import { type JwtIssuer, startJwtIssuer } from '../support/jwt-issuer.ts';
import { allow, callMcp, codeOf, type LoginWorld, responseOf, startLoginWorld } from '../support/mcp-login.ts';

const PATH = '/api/v1/mcp/login_provider';
const CLIENT = { client_id: 'valetkey', client_secret: 'secret-of-valetkey' };

/** Users of MCP clients who are identified by the OpenID provider of their company, without the application. */
describe('logins at an OpenID provider', () => {
  let company: AuthorizationServer;
  let world: LoginWorld;

  before(async () => {
    company = await startAuthorizationServer({ name: 'login' });
    world = await startLoginWorld({
      env: { VALETKEY_ENDPOINT_OVERRIDES: company.override },
      // The provider puts the time of the machine into its tokens, so the server must use the same clock.
      overrides: { now: Date.now },
    });
    await company.register({ ...CLIENT, redirect_uris: [`${world.server.origin}/oauth/login/callback`] });
    await set();
  });
  after(async () => {
    await world.stop();
    await company.stop();
  });

  const set = async (change: object = {}) => {
    const body = { type: 'OIDC', issuer: company.issuer, ...CLIENT, ...change };
    const answer = await world.server.call('PUT', PATH, { body });
    expect(answer.status, answer.text).to.equal(200);
    return answer.body.login_provider;
  };
  const newBrowser = () => new TestBrowser({ hosts: { [company.issuer]: company.target } });
  const isClient = (url: URL) => url.hostname === 'client.example';

  const codeAfter = async ({ browser, page }: { browser: TestBrowser; page: BrowserPage }) =>
    codeOf(page.location ? page : await allow(browser, page));

  /** Begins a login, and signs in at the provider. @returns the consent page, or the redirect to the client */
  async function signIn(browser = newBrowser(), answer = 'allow') {
    const form = await browser.follow(await world.authorize(browser));
    expect(form.text, 'the page of the provider').to.include('Sign in');
    const signedIn = await browser.submit(form.url, { login: 'ada', answer }, { 'sec-fetch-site': 'same-origin' });
    return { browser, page: await browser.follow(signedIn, isClient) };
  }

  it('redirects the user to the provider, asks for consent, and lets the client use tools', async () => {
    const login = await signIn();
    expect(login.page.text).to.include('ada');
    const tokens = await world.exchange(await codeAfter(login));
    expect((await world.listTools(tokens.body.access_token)).status).to.equal(200);
    const [grant] = await world.grants();
    expect(grant?.['user']).to.deep.equal({ organization_id: null, user_id: 'ada', identifier: 'ada' });
    expect((await world.refresh(tokens.body.refresh_token)).status).to.equal(200);
  });

  it('tells the client that the user denied the login, without the text of the provider', async () => {
    const { page } = await signIn(newBrowser(), 'deny');
    const response = responseOf(page);
    expect(response).to.include({ error: 'access_denied', state: 'state-of-the-client', iss: world.server.origin });
    expect(response['error_description']).to.equal('The user or a policy of the provider denied access.');
  });

  it('does not accept an email address that the provider has not verified', async () => {
    await set({ claims: { identifier: 'email' }, scopes: ['email'] });
    const { page } = await signIn();
    expect(responseOf(page)).to.include({ error: 'access_denied' });
    expect(responseOf(page)['error_description']).to.equal(
      'The login provider sent no valid value of the claim email, or has not verified it.',
    );
    await set();
  });

  it('admits only the allowed organizations', async () => {
    await set({ claims: { organization_id: 'sub' }, allowed_organizations: ['grace'] });
    expect(responseOf((await signIn()).page)['error_description']).to.match(/organization/);
    await set({ claims: { organization_id: 'sub' }, allowed_organizations: ['ada'] });
    expect(await codeAfter(await signIn()), 'the control').to.be.a('string');
    await set();
  });

  it('revokes grants when another provider is set, or when it is deleted', async () => {
    const { access_token, refresh_token } = (await world.exchange(await codeAfter(await signIn()))).body;
    expect((await world.listTools(access_token)).status, 'the control').to.equal(200);
    await world.server.call('DELETE', PATH);
    expect((await world.listTools(access_token)).status).to.equal(401);
    expect((await world.refresh(refresh_token)).body.error).to.equal('invalid_grant');
    await set();
    expect((await world.listTools(access_token)).status, 'a new provider has a new id').to.equal(401);
  });

  it('tells the client that the provider is unavailable, and works again afterwards', async () => {
    await set({ issuer: 'http://127.0.0.1:9' });
    const page = await world.authorize(newBrowser());
    expect(responseOf(page)).to.include({ error: 'temporarily_unavailable', state: 'state-of-the-client' });
    await set();
    expect(await codeAfter(await signIn())).to.be.a('string');
  });
});

/** Clients that log in at an authorization server of the company, and send its tokens. */
describe('access tokens of an external authorization server', () => {
  const clock = testClock();
  let issuer: JwtIssuer;
  let world: LoginWorld;

  before(async () => {
    issuer = await startJwtIssuer(clock.now);
    world = await startLoginWorld({
      // Nothing listens at the address of the provider's API.
      env: { VALETKEY_ENDPOINT_OVERRIDES: `${issuer.override},https://api.github.com=http://127.0.0.1:9` },
      overrides: { now: clock.now },
    });
    await set();
  });
  after(async () => {
    await world.stop();
    await issuer.stop();
  });

  const set = async (change: object = {}) => {
    const body = { type: 'JWT', issuer: issuer.issuer, ...change };
    const answer = await world.server.call('PUT', PATH, { body });
    expect(answer.status, answer.text).to.equal(200);
  };
  const status = async (token: string) => (await world.listTools(token)).status;

  it('are accepted for the address of the server', async () => {
    expect(await status('eyJ.eyJ.x'), 'the control').to.equal(401);
    expect(await status(issuer.token({ aud: world.resource }))).to.equal(200);
  });

  it('are described by the metadata and the challenge, with the scopes to request', async () => {
    await set({ scopes: ['mcp.use'] });
    const refused = await callMcp(world.server, world.serverId, null, 'tools/list');
    expect(refused.headers['www-authenticate']).to.include('scope="mcp.use"');
    const metadata = await world.server.call('GET', `/.well-known/oauth-protected-resource/mcp/${world.serverId}`);
    expect(metadata.body).to.include({ resource: world.resource });
    expect(metadata.body.authorization_servers).to.deep.equal([issuer.issuer]);
    expect(metadata.body.scopes_supported).to.deep.equal(['mcp.use']);
    await set();
    const without = await callMcp(world.server, world.serverId, null, 'tools/list');
    expect(without.headers['www-authenticate']).not.to.include('scope=');
  });

  it('run tools with the accounts of their user', async () => {
    const call = async (sub: string) => {
      const params = { name: 'github_get_issue', arguments: { owner: 'octocat', repo: 'hello', issue_number: 1 } };
      const token = issuer.token({ aud: world.resource, sub });
      return (await callMcp(world.server, world.serverId, token, 'tools/call', params)).text;
    };
    const details = { authorization_details: { oauth_token: { access_token: 'gho_1', scopes: ['repo'] } } };
    await createAccount(world.server, { userId: 'ada', identifier: 'ada', connectedAccount: details });
    expect(await call('grace'), 'the control').to.include('ACCOUNT_NOT_ACTIVE');
    expect(await call('ada')).to.include('TOOL_FAILED');
  });

  it('can only list tools with the scope tools:read', async () => {
    const token = issuer.token({ aud: world.resource, scope: 'tools:read' });
    expect(await status(token)).to.equal(200);
    const called = await callMcp(world.server, world.serverId, token, 'tools/call', { name: 'github_get_issue' });
    expect(called.status).to.equal(403);
  });

  it("are accepted after the provider's keys were replaced, which are read at most once a minute", async () => {
    await status(issuer.token({ aud: world.resource }));
    issuer.rotate();
    const before = issuer.keyRequests();
    clock.advance(61_000);
    const fresh = Array.from({ length: 8 }, () => status(issuer.token({ aud: world.resource })));
    expect(await Promise.all(fresh)).to.deep.equal(Array(8).fill(200));
    const unknown = Array.from({ length: 8 }, () => status(issuer.token({ aud: world.resource }, { kid: 'other' })));
    expect(await Promise.all(unknown)).to.deep.equal(Array(8).fill(401));
    expect(issuer.keyRequests() - before).to.equal(1);
  });

  it('are rejected with 503 while the keys cannot be read, because a 401 would end the session', async () => {
    issuer.setDown(true);
    clock.advance(3_600_001);
    const { body } = await world.listTools(issuer.token({ aud: world.resource }));
    expect(body.error?.data ?? body).to.deep.include({ code: 'LOGIN_PROVIDER_UNAVAILABLE' });
    issuer.setDown(false);
    expect(await status(issuer.token({ aud: world.resource }))).to.equal(200);
  });

  it('do not make session tokens invalid', async () => {
    const body = { server_id: world.serverId, user_id: 'ada', identifier: 'ada' };
    const session = await world.server.call('POST', '/api/v1/mcp/session_tokens', { body });
    expect(await status(session.body.token)).to.equal(200);
  });

  it('replace logins at this server: the authorization page names the other server', async () => {
    const page = await world.authorize(new TestBrowser());
    expect([page.status, page.location]).to.deep.equal([400, undefined]);
    expect(page.text).to.include(issuer.issuer);
  });
});
