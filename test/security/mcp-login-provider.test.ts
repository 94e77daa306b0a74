import { expect } from 'chai';
import jwt from 'jsonwebtoken';
import { type AuthorizationServer, startAuthorizationServer } from '../support/authorization-server.ts';
import { TestBrowser } from '../support/browser.ts';
import { testClock } from '../support/clock.ts';
import { type JwtIssuer, startJwtIssuer } from '../support/jwt-issuer.ts';
import { type LoginWorld, startLoginWorld } from '../support/mcp-login.ts';
import { createConnection } from '../support/providers.ts';
import { rsaPair } from '../support/rsa-pair.ts';

const PATH = '/api/v1/mcp/login_provider';
const CLIENT = { client_id: 'valetkey', client_secret: 'secret-of-valetkey' };

describe('attacks on logins at an OpenID provider', () => {
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
    const body = { type: 'OIDC', issuer: company.issuer, ...CLIENT };
    expect((await world.server.call('PUT', PATH, { body })).status).to.equal(200);
  });
  after(async () => {
    await world.stop();
    await company.stop();
  });

  const newBrowser = () => new TestBrowser({ hosts: { [company.issuer]: company.target } });
  const isCallback = (url: URL) => url.pathname === '/oauth/login/callback';

  /** Signs in at the provider. @returns the callback, which the browser has not opened yet */
  async function callbackOf(browser: TestBrowser): Promise<string> {
    const form = await browser.follow(await world.authorize(browser, { prompt: 'consent' }));
    const page = await browser.follow(await browser.submit(form.url, { login: 'ada', answer: 'allow' }), isCallback);
    return page.location as string;
  }

  it('refuses the callback in another browser, and ends the login (session fixation)', async () => {
    const [attacker, victim] = [newBrowser(), newBrowser()];
    const callback = await callbackOf(attacker);
    await world.authorize(victim);
    expect((await victim.open(callback)).status).to.equal(410);
    expect((await attacker.open(callback)).status).to.equal(410);
    const own = newBrowser();
    expect((await own.open(await callbackOf(own))).status, 'the control').to.equal(303);
  });

  it('accepts a callback once', async () => {
    const browser = newBrowser();
    const callback = await callbackOf(browser);
    expect((await browser.open(callback)).status).to.equal(303);
    expect((await browser.open(callback)).status).to.equal(410);
  });

  it('refuses a callback of another issuer (mix-up), without sending it the code', async () => {
    const browser = newBrowser();
    const callback = new URL(await callbackOf(browser));
    callback.searchParams.set('iss', 'https://evil.example');
    const before = company.hits('/token');
    const page = await browser.open(callback.href);
    expect(new URL(page.location ?? '').searchParams.get('error')).to.equal('temporarily_unavailable');
    expect(company.hits('/token')).to.equal(before);
  });

  it('refuses a code that was issued for another login, because its verifier and nonce differ', async () => {
    const [attacker, victim] = [newBrowser(), newBrowser()];
    const stolen = new URL(await callbackOf(victim)).searchParams.get('code') as string;
    const callback = new URL(await callbackOf(attacker));
    callback.searchParams.set('code', stolen);
    const page = await attacker.open(callback.href);
    expect(new URL(page.location ?? '').searchParams.get('error')).to.equal('temporarily_unavailable');
  });

  it('does not let the application complete a login at the provider', async () => {
    const browser = newBrowser();
    const page = await world.authorize(browser);
    const state = new URL(page.location ?? '').searchParams.get('state') as string;
    expect((await world.complete(state)).status).to.equal(404);
    expect((await browser.open(`${world.server.origin}/oauth/login/${state}`)).status).to.equal(410);
  });

  it('ends a login during which another provider was set', async () => {
    const browser = newBrowser();
    const callback = await callbackOf(browser);
    const set = (claims: object) =>
      world.server.call('PUT', PATH, { body: { type: 'OIDC', issuer: company.issuer, ...CLIENT, claims } });
    await set({ identifier: 'sub', organization_id: 'sub' });
    const { location = '' } = await browser.open(callback);
    expect(new URL(location).searchParams.get('error_description')).to.match(/was changed/);
    await set({});
  });

  it('includes no text of the callback', async () => {
    const browser = newBrowser();
    const state = new URL(await callbackOf(browser)).searchParams.get('state') as string;
    const query = new URLSearchParams({ state, error: 'x<script>', error_description: '<script>alert(1)</script>' });
    const page = await browser.open(`${world.server.origin}/oauth/login/callback?${query}`);
    expect(`${page.location} ${page.text}`).not.to.include('alert');
  });
});

describe('attacks with access tokens of an external authorization server', () => {
  const clock = testClock();
  let issuer: JwtIssuer;
  let other: JwtIssuer;
  let world: LoginWorld;

  before(async () => {
    issuer = await startJwtIssuer(clock.now);
    other = await startJwtIssuer(clock.now, 'https://other.example');
    const overrides = [issuer.override, other.override].join(',');
    world = await startLoginWorld({ env: { VALETKEY_ENDPOINT_OVERRIDES: overrides }, overrides: { now: clock.now } });
    await set();
  });
  after(async () => {
    await world.stop();
    await issuer.stop();
    await other.stop();
  });

  const set = async (change: object = {}) => {
    const answer = await world.server.call('PUT', PATH, { body: { type: 'JWT', issuer: issuer.issuer, ...change } });
    expect(answer.status, answer.text).to.equal(200);
  };
  const isRejected = async (token: string, why: string) => {
    expect((await world.listTools(token)).status, why).to.equal(401);
  };
  const token = (claims: object = {}, header: Record<string, unknown> = {}) =>
    issuer.token({ aud: world.resource, ...claims }, header);

  afterEach('the control: a valid token is accepted', async () => {
    expect((await world.listTools(token())).status).to.equal(200);
  });

  it('rejects tokens for another server, another host or none', async () => {
    const otherServer = await createConnection(world.server, { connector: 'slack' });
    await isRejected(token({ aud: `${world.server.origin}/mcp/${otherServer.id}` }), 'another server');
    await isRejected(token({ aud: 'https://evil.example/mcp/1' }), 'another host');
    await isRejected(token({ aud: undefined }), 'no audience');
    await isRejected(token({ aud: [] }), 'an empty list');
    await isRejected(token({ aud: { resource: world.resource } }), 'not a text');
  });

  it('rejects tokens that have expired, are not valid yet, or have no times', async () => {
    const at = Math.floor(clock.now() / 1000);
    await isRejected(token({ exp: at - 61 }), 'expired');
    await isRejected(token({ nbf: at + 3600 }), 'not valid yet');
    await isRejected(token({ iat: at + 3600 }), 'issued in the future');
    await isRejected(token({ exp: undefined }), 'no expiry');
  });

  it('rejects other kinds of tokens of the same issuer, such as an id_token', async () => {
    await isRejected(token({}, { typ: 'JWT' }), 'an id_token');
    await isRejected(token({}, { typ: 'logout+jwt' }), 'a logout token');
    await isRejected(token({ client_id: undefined }), 'no client');
  });

  it('rejects signatures by another key, by the public key as a shared secret, and unsigned tokens', async () => {
    const payload = { aud: world.resource, ...jwt.decode(token(), { json: true }) };
    const header = { alg: 'RS256', typ: 'at+jwt', kid: 'key-1' };
    const [head, body] = token().split('.');
    await isRejected(jwt.sign(payload, rsaPair('attacker').privateKey, { algorithm: 'RS256', header }), 'another key');
    const pem = rsaPair(`${issuer.issuer} 1`).publicKey.export({ type: 'spki', format: 'pem' });
    const shared = jwt.sign(payload, pem.toString('base64'), { header: { ...header, alg: 'HS256' } });
    await isRejected(shared, 'a shared secret');
    const none = Buffer.from(JSON.stringify({ ...header, alg: 'none' })).toString('base64url');
    await isRejected(`${none}.${body}.`, 'no signature');
    await isRejected(`${none}.${body}.AA`, 'alg none');
    await isRejected(
      `${head}.${Buffer.from(JSON.stringify({ ...payload, sub: 'root' })).toString('base64url')}.AA`,
      'changed',
    );
  });

  it('rejects tokens of another issuer, regardless of the issuer that they name', async () => {
    await isRejected(other.token({ aud: world.resource }), 'its own name');
    await isRejected(other.token({ aud: world.resource, iss: issuer.issuer }), 'the name of the issuer');
  });

  it('rejects clients that are not listed', async () => {
    await set({ client_ids: ['claude'] });
    await isRejected(token({ client_id: 'evil' }), 'another client');
    expect((await world.listTools(token({ client_id: 'claude' }))).status).to.equal(200);
    await set();
  });

  it('rejects claims that name no user', async () => {
    await set({ claims: { organization_id: 'tid' }, allowed_organizations: ['acme'] });
    await isRejected(token({}), 'no organization');
    await isRejected(token({ tid: 'evil' }), 'another organization');
    await isRejected(token({ tid: ['acme'] }), 'a list');
    await isRejected(token({ tid: 'acme', sub: 'x'.repeat(256) }), 'too long');
    expect((await world.listTools(token({ tid: 'acme' }))).status).to.equal(200);
    await set();
  });

  it('rejects malformed tokens without an internal error', async () => {
    for (const hostile of [
      'a.b.c',
      `${'a'.repeat(9000)}.b.c`,
      'e30.e30.e30',
      `e30.${Buffer.from('null').toString('base64url')}.AA`,
    ])
      await isRejected(hostile, hostile.slice(0, 20));
  });
});
