import { expect } from 'chai';
import { MCP_LOGIN } from '../../core/budgets.ts';
import { wrap } from '../../wiring/overrides.ts';
import { type BrowserPage, hiddenFields, TestBrowser } from '../support/browser.ts';
import {
  allow,
  CHALLENGE,
  codeOf,
  type LoginWorld,
  loginRequestOf,
  REDIRECT_URI,
  responseOf,
  startLoginWorld,
} from '../support/mcp-login.ts';
import { createConnection } from '../support/providers.ts';

/** Attacks on the login of users for MCP clients, up to the code. */
describe('attacks on logins for MCP clients', () => {
  let world: LoginWorld;

  before(async () => {
    world = await startLoginWorld();
  });
  after(() => world.stop());

  const completed = async (page: BrowserPage): Promise<string> =>
    (await world.complete(loginRequestOf(page))).body.continue_url;

  /** Checks that the response is an error page without a redirect. */
  const isPage = (page: BrowserPage, status = 400) => {
    expect([page.status, page.location], page.text).to.deep.equal([status, undefined]);
  };

  describe('A1: a login that an attacker began and sent to a victim', () => {
    it('is refused in the browser of the victim, who was identified silently, and ends', async () => {
      const [attacker, victim] = [new TestBrowser(), new TestBrowser()];
      const url = await completed(await world.authorize(attacker));
      isPage(await victim.open(url), 410);
      isPage(await attacker.open(url), 410);
      const own = await attacker.open(await completed(await world.authorize(attacker)));
      expect(own.status, 'the control: the browser of the beginning').to.equal(303);
    });

    it('is refused with the cookie of another login', async () => {
      const [attacker, victim] = [new TestBrowser(), new TestBrowser()];
      await world.authorize(victim);
      isPage(await victim.open(await completed(await world.authorize(attacker))), 410);
    });

    it('shows its consent page in no other browser, and accepts no decision from there', async () => {
      const browser = new TestBrowser();
      const consent = await world.reachConsent(browser, { prompt: 'consent' });
      const other = new TestBrowser();
      await world.authorize(other);
      isPage(await other.open(consent.url), 410);
      isPage(await other.submit(consent.url, { ...hiddenFields(consent), decision: 'allow' }), 410);
      expect(codeOf(await allow(browser, consent)), 'the control').to.be.a('string');
    });
  });

  describe('A2: the secrets of a login', () => {
    it('continue a login once', async () => {
      const browser = new TestBrowser();
      const url = await completed(await world.authorize(browser));
      expect((await browser.open(url)).status).to.equal(303);
      isPage(await browser.open(url), 410);
    });

    it('return one code for 8 concurrent consents', async () => {
      const browser = new TestBrowser();
      const consent = await world.reachConsent(browser, { prompt: 'consent' });
      const pages = await Promise.all(Array.from({ length: 8 }, () => allow(browser, consent)));
      expect(pages.filter(({ location }) => location !== undefined)).to.have.lengthOf(1);
    });

    it('are not accepted for another step', async () => {
      const browser = new TestBrowser();
      const request = loginRequestOf(await world.authorize(browser));
      isPage(await browser.open(`${world.server.origin}/oauth/login/${request}`), 410);
      isPage(await browser.open(`${world.server.origin}/oauth/consent/${request}`), 410);
      expect((await world.exchange(request)).body.error).to.equal('invalid_grant');
      const continuation = (await world.complete(request)).body.continue_url.split('/').pop() as string;
      expect((await world.complete(continuation)).status).to.equal(404);
      isPage(await browser.open(`${world.server.origin}/oauth/consent/${continuation}`), 410);
    });

    it('are not used up by HEAD, which mail scanners and previews send', async () => {
      const browser = new TestBrowser();
      const url = await completed(await world.authorize(browser));
      expect((await browser.open(url, 'HEAD')).status).to.equal(410);
      expect((await browser.open(url)).status).to.equal(303);
    });

    it('expire after ten minutes', async () => {
      const browser = new TestBrowser();
      const consent = await world.reachConsent(browser, { prompt: 'consent' });
      world.clock.advance(600_000);
      isPage(await allow(browser, consent), 410);
    });
  });

  describe('A3: a consent that the user did not give', () => {
    it('is refused from a page of another site, and without the token of the page', async () => {
      const browser = new TestBrowser();
      const consent = await world.reachConsent(browser, { prompt: 'consent' });
      const form = { ...hiddenFields(consent), decision: 'allow' };
      isPage(await browser.submit(consent.url, form, { 'sec-fetch-site': 'cross-site' }), 403);
      isPage(await browser.submit(consent.url, { decision: 'allow' }), 403);
      isPage(await browser.submit(consent.url, { ...form, form_token: 'A'.repeat(43) }), 403);
      expect(codeOf(await browser.submit(consent.url, form)), 'the control').to.be.a('string');
    });

    it('is denied by a form without a decision', async () => {
      const browser = new TestBrowser();
      const consent = await world.reachConsent(browser, { prompt: 'consent' });
      expect(responseOf(await browser.submit(consent.url, hiddenFields(consent)))['error']).to.equal('access_denied');
    });

    it('cannot be framed, and runs no script', async () => {
      const consent = await world.reachConsent(new TestBrowser(), { prompt: 'consent' });
      const policy = consent.headers['content-security-policy'];
      expect(policy).to.include("default-src 'none'").and.include("frame-ancestors 'none'");
      expect(consent.headers['x-frame-options']).to.equal('DENY');
      expect(consent.headers['referrer-policy']).to.equal('no-referrer');
    });
  });

  describe('A4: redirects to another host', () => {
    for (const redirect_uri of [
      'https://evil.example/callback',
      'https://client.example/callback/',
      'https://client.example/callback?x=1',
      'https://client.example/callback#x',
      'https://client.example:444/callback',
      'https://CLIENT.example/callback',
      'https://client.example/x/../callback',
      'https://client.example/%63allback',
      'https://user@client.example/callback',
      'http://client.example/callback',
      'http://127.0.0.1:80@evil.example/callback',
      'http://127.0.0.1.evil.example/callback',
      'http://localhost/callback',
      'http://127.0.0.1:99999/callback',
      'http://127.0.0.1/other',
      'javascript:alert(1)',
      '',
    ]) {
      it(`shows a page instead, for ${redirect_uri || 'none'}`, async () => {
        isPage(await world.authorize(new TestBrowser(), { redirect_uri }));
      });
    }

    it('shows a page for an unknown client, also when other parameters are wrong', async () => {
      isPage(await world.authorize(new TestBrowser(), { client_id: 'ocl_unknown' }));
      isPage(await world.authorize(new TestBrowser(), { client_id: null, response_type: 'token' }));
    });

    it('shows a page when the client or the redirect URI is given twice', async () => {
      const twice = async (name: string, value: string) => {
        const query = new URLSearchParams({ client_id: world.documents.clientId, redirect_uri: REDIRECT_URI });
        query.append(name, value);
        return new TestBrowser().open(`${world.server.origin}/oauth/authorize?${query}`);
      };
      isPage(await twice('redirect_uri', 'https://evil.example/'));
      isPage(await twice('client_id', 'ocl_1'));
    });

    it("accepts any port of the user's machine (control)", async () => {
      const page = await world.authorize(new TestBrowser(), { redirect_uri: 'http://127.0.0.1:65535/callback' });
      expect(loginRequestOf(page)).to.be.a('string');
    });
  });

  describe('A5: authorization requests that are weaker than required', () => {
    for (const [title, parameters, error] of [
      ['no proof key', { code_challenge: null, code_challenge_method: null }, 'invalid_request'],
      ['a plain proof key', { code_challenge_method: 'plain' }, 'invalid_request'],
      ['a proof key without a method', { code_challenge_method: null }, 'invalid_request'],
      ['a short proof key', { code_challenge: 'abc' }, 'invalid_request'],
      ['an implicit grant', { response_type: 'token' }, 'unsupported_response_type'],
      ['an id token', { response_type: 'code id_token' }, 'unsupported_response_type'],
      ['a response in the fragment', { response_mode: 'fragment' }, 'invalid_request'],
      ['a form post', { response_mode: 'form_post' }, 'invalid_request'],
      ['a request object', { request: 'eyJhbGciOiJub25lIn0.e30.' }, 'request_not_supported'],
      ['a request by reference', { request_uri: 'https://evil.example/' }, 'request_not_supported'],
      ['no resource', { resource: null }, 'invalid_target'],
      ['prompt=none', { prompt: 'none' }, 'login_required'],
    ] as const) {
      it(`${error} for ${title}`, async () => {
        const response = responseOf(await world.authorize(new TestBrowser(), parameters));
        const { error_description, ...rest } = response;
        expect(rest).to.deep.equal({ error, state: 'state-of-the-client', iss: world.server.origin });
        expect(error_description).to.be.a('string');
      });
    }

    it('invalid_request for a parameter that is given twice', async () => {
      const query = new URLSearchParams({ client_id: world.documents.clientId, redirect_uri: REDIRECT_URI });
      for (const value of [CHALLENGE, 'A'.repeat(43)]) query.append('code_challenge', value);
      const page = await new TestBrowser().open(`${world.server.origin}/oauth/authorize?${query}`);
      expect(responseOf(page)['error']).to.equal('invalid_request');
    });

    for (const [title, change] of [
      ['another host', (resource: string) => resource.replace('127.0.0.1', 'other.example')],
      ['another path', (resource: string) => resource.replace('/mcp/', '/other/')],
      ['a server that does not exist', (resource: string) => `${resource}x`],
      ['a query', (resource: string) => `${resource}?x=1`],
      ['a fragment', (resource: string) => `${resource}#x`],
      ['a user name', (resource: string) => resource.replace('http://', 'http://user@')],
      ['the API', (resource: string) => new URL(resource).origin],
    ] as const) {
      it(`invalid_target for a resource with ${title}`, async () => {
        const page = await world.authorize(new TestBrowser(), { resource: change(world.resource) });
        expect(responseOf(page)['error']).to.equal('invalid_target');
      });
    }
  });

  describe('A6: a mix-up of authorization servers', () => {
    it('is prevented by the issuer in every response, exactly as in the metadata (RFC 9207)', async () => {
      const { body } = await world.server.call('GET', '/.well-known/oauth-authorization-server', { token: null });
      expect(body.authorization_response_iss_parameter_supported).to.equal(true);
      const browser = new TestBrowser();
      const failed = await world.authorize(browser, { response_type: 'token' });
      const denied = await allow(browser, await world.reachConsent(browser, { prompt: 'consent' }), 'deny');
      const allowed = await allow(browser, await world.reachConsent(browser, { prompt: 'consent' }));
      for (const page of [failed, denied, allowed]) {
        expect(new URL(page.location ?? '').searchParams.getAll('iss')).to.deep.equal([body.issuer]);
      }
    });
  });

  describe('A7: hostile names', () => {
    it('are shown as text, without markup and hidden or reordering characters, and truncated', async () => {
      const client_name = `<script>alert(1)</script>\u202eGoogle\u200b\n\nBank${'x'.repeat(500)}`;
      const { client_id } = (await world.register({ client_name })).body;
      const redirect_uri = 'http://127.0.0.1:1/callback';
      const { text } = await world.reachConsent(new TestBrowser(), { client_id, redirect_uri });
      // In long names, a line may break before each sign.
      expect(text.replaceAll('<wbr>', '')).to.include('&lt;script&gt;alert(1)&lt;/script&gt;Google Bank');
      expect(text).to.not.match(/<script|\u202e|\u200b|x{60}/);
      expect(text).to.include('Its name is not verified.');
    });

    it('cannot make a client that registered itself look like one with a metadata document of the same name', async () => {
      await world.tokens({}, { user_id: 'user_same', identifier: 'same' });
      const { client_id } = (await world.register({ client_name: 'Document Client', redirect_uris: [REDIRECT_URI] }))
        .body;
      const page = await world.reachConsent(
        new TestBrowser(),
        { client_id },
        { user_id: 'user_same', identifier: 'same' },
      );
      expect(page.status, 'the user is asked').to.equal(200);
      expect(page.text).to.include('Registered itself').and.not.include('Published by');
    });
  });

  describe('A8: too many logins', () => {
    it('are refused beyond the limit, and accepted again when some have expired', async () => {
      const { parts } = world.server;
      const { id } = await parts.environmentOf('127.0.0.1');
      const crowded = await startLoginWorld({
        overrides: {
          store: wrap((store) => ({
            ...store,
            read: { ...store.read, oauthLogins: { ...store.read.oauthLogins, countExpiring: async () => 10_000 } },
          })),
        },
      });
      try {
        isPage(await crowded.authorize(new TestBrowser()), 503);
      } finally {
        await crowded.stop();
      }
      world.clock.advance(3_600_000);
      await world.authorize(new TestBrowser());
      expect(await parts.store.read.oauthLogins.countExpiring(id, parts.now(), 2 ** 50, 10_000)).to.equal(1);
      world.clock.advance(3_600_000);
      await parts.store.write((tx) => tx.oauthLogins.sweep(id, parts.now(), 1000));
      expect(await parts.store.read.oauthLogins.countExpiring(id, 0, 2 ** 50, 10_000)).to.equal(0);
    });
  });

  describe('A8: many logins of one address', () => {
    it('L4, S10: leave slots to users at other addresses, and have slots again later', async () => {
      const crowded = await startLoginWorld({ env: { VALETKEY_TRUSTED_PROXIES: '127.0.0.1' } });
      const from = (client: string) => crowded.authorize(new TestBrowser({ headers: { 'x-forwarded-for': client } }));
      try {
        for (let begun = 0; begun < MCP_LOGIN.loginsOfAddress; begun++)
          expect((await from('203.0.113.1')).status).to.equal(303);
        isPage(await from('198.51.100.1, 203.0.113.1'), 429);
        expect((await from('203.0.113.2')).status).to.equal(303);
        crowded.clock.advance(MCP_LOGIN.loginMs);
        expect((await from('203.0.113.1')).status).to.equal(303);
      } finally {
        await crowded.stop();
      }
    });

    it('are not counted once their codes were exchanged, except those of the last minutes of an hour', async () => {
      const { parts } = world.server;
      const { id } = await parts.environmentOf('127.0.0.1');
      const open = () => {
        const now = parts.now();
        return parts.store.read.oauthLogins.countExpiring(id, now, now + MCP_LOGIN.loginMs, 10_000);
      };
      world.clock.advance(2 * 3_600_000);
      await world.tokens();
      expect(await open()).to.equal(0);
      await world.authorize(new TestBrowser());
      expect(await open()).to.equal(1);
    });
  });

  it('A9: a server without logins shows a page that says so, and begins none', async () => {
    const set = (mcp_login_url: string | null) =>
      world.server.call('PUT', '/api/v1/environment', { body: { mcp_login_url } });
    await set(null);
    const page = await world.authorize(new TestBrowser());
    await set('https://app.example/agents/login');
    isPage(page, 503);
    expect(page.text).to.include('mcp_login_url');
  });

  it('A10: a login for one server gives no access to another', async () => {
    const other = await createConnection(world.server, { connector: 'slack' });
    const tokens = await world.tokens();
    expect((await world.listTools(tokens.access_token)).status).to.equal(200);
    const refused = await world.listTools(tokens.access_token, other.id);
    expect(refused.status).to.equal(401);
    expect(refused.headers['www-authenticate']).to.include('error="invalid_token"');
  });
});
