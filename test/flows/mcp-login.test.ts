import { expect } from 'chai';
import { TestBrowser, withoutIsolation } from '../support/browser.ts';
import {
  ADA,
  allow,
  callMcp,
  type LoginWorld,
  loginRequestOf,
  REDIRECT_URI,
  responseOf,
  startLoginWorld,
} from '../support/mcp-login.ts';

describe('a user logs in for an MCP client', () => {
  let world: LoginWorld;

  before(async () => {
    world = await startLoginWorld();
  });
  after(() => world.stop());

  it('is refused without a token, with a challenge that leads to the login', async () => {
    const { server, serverId } = world;
    const answer = await callMcp(server, serverId, null, 'tools/list');
    expect(answer.status).to.equal(401);
    const metadata = `${server.origin}/.well-known/oauth-protected-resource/mcp/${serverId}`;
    expect(answer.headers['www-authenticate']).to.equal(
      `Bearer resource_metadata="${metadata}", scope="tools:read tools:call"`,
    );
    const { body } = await server.call('GET', new URL(metadata).pathname, { token: null });
    expect(body).to.deep.equal({
      resource: world.resource,
      authorization_servers: [server.origin],
      scopes_supported: ['tools:read', 'tools:call'],
      bearer_methods_supported: ['header'],
    });
  });

  it('completes the authorization request, the login at the application and the consent, and can use tools', async () => {
    const { server } = world;
    const browser = new TestBrowser();
    const begun = await world.authorize(browser);
    expect(begun.status).to.equal(303);
    const completed = await world.complete(loginRequestOf(begun));
    expect(completed.status, completed.text).to.equal(200);
    const consent = await browser.follow(await browser.open(completed.body.continue_url));
    expect(consent.status, consent.text).to.equal(200);
    for (const text of ['Document Client', 'Published by client.example', 'ada@acme.test', 'GitHub', 'client.example'])
      expect(withoutIsolation(consent.text)).to.include(text);
    expect(consent.text, 'no script').to.not.include('<script');
    const response = responseOf(await allow(browser, consent));
    expect(response).to.deep.include({ state: 'state-of-the-client', iss: server.origin });
    const answer = await world.exchange(response['code'] as string);
    expect(answer.status, answer.text).to.equal(200);
    expect(answer.headers['cache-control']).to.equal('no-store');
    expect(answer.body).to.deep.include({ token_type: 'Bearer', expires_in: 900, scope: 'tools:read tools:call' });
    expect(answer.body.access_token).to.match(/^vka_/);
    expect(answer.body.refresh_token).to.match(/^vkr_/);
    const listed = await world.listTools(answer.body.access_token);
    expect(listed.status, listed.text).to.equal(200);
    expect(listed.text).to.include('github_list_issues');
  });

  it('is asked for consent once by a client with an https redirect, as long as the grant lasts', async () => {
    const user = { user_id: 'user_once', identifier: 'once' };
    await world.tokens({}, user);
    const browser = new TestBrowser();
    const led = await world.reachConsent(browser, {}, user);
    expect(responseOf(led), 'the second login').to.have.property('code');
    const other = await world.reachConsent(browser, {}, { ...user, user_id: 'user_other' });
    expect(other.status, 'another user is asked').to.equal(200);
    const asked = await world.reachConsent(browser, { prompt: 'consent' }, user);
    expect(asked.status, 'with prompt=consent').to.equal(200);
    const native = await world.reachConsent(browser, { redirect_uri: 'http://127.0.0.1:3456/callback' }, user);
    expect(native.status, 'a program of the machine').to.equal(200);
    expect(native.text).to.include('A program on this computer');
  });

  it('is asked again when the client requests more scopes than the grant has', async () => {
    const user = { user_id: 'user_growing', identifier: 'growing' };
    await world.tokens({ scope: 'tools:read' }, user);
    const same = await world.reachConsent(new TestBrowser(), { scope: 'tools:read' }, user);
    expect(responseOf(same), 'the same scopes').to.have.property('code');
    const more = await world.reachConsent(new TestBrowser(), { scope: 'tools:read tools:call' }, user);
    expect([more.status, more.location], more.text).to.deep.equal([200, undefined]);
  });

  it('is not asked for consent by a client whose metadata document is at a trusted host', async () => {
    const trust = (hosts: string[] | null) =>
      world.server.call('PUT', '/api/v1/environment', { body: { mcp_trusted_client_hosts: hosts } });
    const user = { user_id: 'user_trusting', identifier: 'trusting' };
    expect((await trust(['client.example'])).status).to.equal(200);
    const led = await world.reachConsent(new TestBrowser(), {}, user);
    await trust(null);
    expect(responseOf(led)).to.have.property('code');
  });

  it('declines, and the client is notified', async () => {
    const browser = new TestBrowser();
    const consent = await world.reachConsent(browser, {}, { user_id: 'user_no', identifier: 'no' });
    const denied = await allow(browser, consent, 'deny');
    expect(responseOf(denied)).to.deep.equal({
      error: 'access_denied',
      state: 'state-of-the-client',
      iss: world.server.origin,
    });
    expect((await browser.open(consent.url)).status, 'the login is over').to.equal(410);
  });

  it("can use a client that registered itself, with any port of the user's machine as the redirect", async () => {
    const registered = await world.register();
    expect(registered.status, registered.text).to.equal(201);
    const { client_id } = registered.body;
    const redirect_uri = 'http://127.0.0.1:45678/callback';
    const browser = new TestBrowser();
    const consent = await world.reachConsent(browser, { client_id, redirect_uri });
    expect(consent.text).to.include('Registered itself. Its name is not verified.');
    expect(consent.headers['content-security-policy']).to.include(
      "form-action 'self' https: http: http://127.0.0.1:45678",
    );
    const sent = await allow(browser, consent);
    expect(sent.location).to.match(/^http:\/\/127\.0\.0\.1:45678\/callback\?code=/);
    const answer = await world.exchange(responseOf(sent)['code'] as string, { client_id, redirect_uri });
    expect(answer.status, answer.text).to.equal(200);
  });

  it('can use a client that an administrator registered, which must authenticate with its secret', async () => {
    const { server } = world;
    const body = { name: 'Acme Chat', redirect_uris: [REDIRECT_URI], token_endpoint_auth_method: 'client_secret_post' };
    const created = await server.call('POST', '/api/v1/mcp/clients', { body });
    expect(created.status, created.text).to.equal(201);
    const client_id = created.body.client.id;
    const code = await world.login({ client_id });
    const without = await world.exchange(code, { client_id });
    expect(without.body.error).to.equal('invalid_client');
    const answer = await world.exchange(code, { client_id, client_secret: created.body.client_secret });
    expect(answer.status, answer.text).to.equal(200);
  });

  it('continues after the access token has expired, with a refresh and the same grant', async () => {
    const tokens = await world.tokens();
    world.clock.advance(15 * 60_000);
    expect((await world.listTools(tokens.access_token)).status).to.equal(401);
    const answer = await world.refresh(tokens.refresh_token);
    expect(answer.status, answer.text).to.equal(200);
    expect((await world.listTools(answer.body.access_token)).status).to.equal(200);
    const narrow = await world.refresh(answer.body.refresh_token, { scope: 'tools:read' });
    expect(narrow.body.scope).to.equal('tools:read');
  });

  it('is asked for all scopes when a token that can only list tools is used for a call (step-up)', async () => {
    const { access_token } = await world.tokens({ scope: 'tools:read' });
    expect((await world.listTools(access_token)).status).to.equal(200);
    const call = () =>
      callMcp(world.server, world.serverId, access_token, 'tools/call', { name: 'github_list_issues' });
    const refused = await call();
    expect(refused.status, refused.text).to.equal(403);
    expect(refused.headers['www-authenticate']).to.match(
      /^Bearer error="insufficient_scope", resource_metadata="[^"]+", scope="tools:read tools:call"$/,
    );
  });

  it('is logged out when the grant is revoked, the server deleted, the application disabled or the account deleted', async () => {
    const { server } = world;
    const revoked = await world.tokens({}, { user_id: 'user_revoked', identifier: 'revoked' });
    const [grant] = await world.grants('?user_id=user_revoked');
    await server.call('POST', `/api/v1/mcp/grants/${grant?.id}:revoke`);
    expect((await world.listTools(revoked.access_token)).status).to.equal(401);
    expect((await world.refresh(revoked.refresh_token)).body.error).to.equal('invalid_grant');
    expect(await world.grants(`?user_id=${ADA.user_id}`), 'those of others stay').to.not.be.empty;
  });

  it('receives metadata with the host name of the request', async () => {
    const { server, serverId } = world;
    const host = new URL(server.origin).host.replace('127.0.0.1', 'localhost');
    const answer = await callMcp(server, serverId, null, 'tools/list', {}, { host });
    expect(answer.headers['www-authenticate']).to.include(`resource_metadata="http://${host}/.well-known/`);
    const path = `/.well-known/oauth-protected-resource/mcp/${serverId}`;
    const { body } = await server.call('GET', path, { token: null, headers: { host } });
    expect(body.resource).to.equal(`http://${host}/mcp/${serverId}`);
    const code = await world.login({ resource: body.resource });
    const tokens = await world.exchange(code, { resource: body.resource });
    expect(tokens.status, tokens.text).to.equal(200);
  });
});
