import { expect } from 'chai';
import { request } from 'undici';
import { RELOAD } from '../../core/budgets.ts';
import { type BrowserPage, hiddenFields, TestBrowser } from '../support/browser.ts';
import { type LinkWorld, startLinkWorld } from '../support/link-world.ts';
import {
  browserFor,
  consent,
  keyConnector,
  makeLink,
  reachSignIn,
  returned,
  submitLink,
  verifyUser,
  walk,
} from '../support/links.ts';
import { NAUGHTY } from '../support/naughty.ts';
import { API_KEY_PATTERN, createConnection, createProvider } from '../support/providers.ts';
import { addSecondEnvironment } from '../support/second-environment.ts';

const CSP = /^default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self' https:/;

/** Removes the only script that a form may have, exactly as the server writes it. */
function withoutOwnScript(text: string): string {
  return text.replace('<script src="/connect/assets/form.js" defer></script>', '');
}

describe('the pages of links', () => {
  let world: LinkWorld;
  let keys: string;
  let made = 0;

  before(async () => {
    world = await startLinkWorld();
    keys = await keyConnector(world.server);
  });
  after(() => world.stop());

  const person = () => {
    made += 1;
    return `page${made}@app.example`;
  };

  /** Returns one page of each kind, by name. */
  async function everyPage(): Promise<Record<string, BrowserPage>> {
    const { origin } = world.server;
    const browser = browserFor(world.as);
    const [consentLink, keyLink] = [await world.link(person()), await makeLink(world.server, { connector: keys })];
    const used = await world.link(person());
    const waiting = await world.link(person());
    await world.finished(waiting, 'waiting');
    const usedBy = `page${made - 1}@app.example`;
    await verifyUser(world.server, await world.finished(used, 'used'), usedBy);
    const callback = `${origin}/oauth/callback/${world.connectionId}`;
    const failing = new URL(
      (await consent(browser, await reachSignIn(browser, await world.link(person())), 'x')).location ?? '',
    );
    failing.searchParams.set('code', 'wrong');
    return {
      start: await browser.open(consentLink),
      form: await browser.open(keyLink),
      problems: await submitLink(browser, keyLink, { api_key: '' }),
      stale: await browser.submit(keyLink, { form_token: 'x' }),
      waiting: await browser.open(waiting),
      used: await browser.open(used),
      unknown: await browser.open(`${origin}/connect/${'x'.repeat(43)}`),
      connected: await browser.open(`${origin}/connect/connected`),
      stray: await browser.open(`${callback}?code=x&state=y`),
      refused: await walk(browserFor(world.as), await world.link(person()), null),
      fault: await browser.open(failing.href),
      missing: await browser.open(`${origin}/connect`),
      started: await submitLink(browser, consentLink),
    };
  }

  describe('L15, L14: headers', () => {
    let pages: Record<string, BrowserPage>;

    before(async () => {
      pages = await everyPage();
    });

    it('have the status that matches the page', () => {
      const statuses = Object.fromEntries(Object.entries(pages).map(([name, { status }]) => [name, status]));
      expect(statuses).to.deep.equal({
        start: 200,
        form: 200,
        problems: 400,
        stale: 403,
        waiting: 200,
        used: 410,
        unknown: 404,
        connected: 200,
        stray: 400,
        refused: 403,
        fault: 502,
        missing: 404,
        started: 303,
      });
    });

    it('keep every page out of frames, caches and referrers, and foreign resources out of the page', () => {
      for (const [name, { headers }] of Object.entries(pages)) {
        const policy = String(headers['content-security-policy']);
        expect(policy.replace(" script-src 'self';", ''), name).to.match(CSP);
        // Only forms have a script: our own file, for its buttons.
        expect(policy.includes('script-src'), name).to.equal(['form', 'problems'].includes(name));
        expect(policy, name).to.match(/; base-uri 'none'; frame-ancestors 'none'$/);
        expect(headers, name).to.include({
          'cache-control': 'no-store',
          'referrer-policy': 'no-referrer',
          'x-content-type-options': 'nosniff',
          'x-frame-options': 'DENY',
        });
        expect(headers, name).not.to.have.any.keys('server', 'x-powered-by', 'etag');
      }
    });

    it('belong to pages without scripts except our own file, and without foreign resources', () => {
      for (const [name, { text }] of Object.entries(pages)) {
        expect(withoutOwnScript(text), name).not.to.match(/<script|<iframe|<img|javascript:|\son[a-z]+=/i);
        expect(
          [...text.matchAll(/(?:src|href|action)="([^"]*)"/g)].map(([, address]) => address).filter(isForeign),
        ).to.deep.equal([]);
      }
    });

    function isForeign(address: string | undefined): boolean {
      // The last alternative is the link back to the application, whose origin the environment lists.
      return !/^(\/connect\/[\w./-]+|#field_\w+|https:\/\/app\.example)$/.test(address ?? '');
    }
  });

  it('lead back to the application if the environment is known, from every page that is not open', async () => {
    world.clock.advance(RELOAD.environmentMs);
    for (const [name, { text, status }] of Object.entries(await everyPage())) {
      if (status === 303 || ['start', 'form', 'problems'].includes(name)) continue;
      expect(text, name).to.match(
        /<a class="button[^"]*" href="https:\/\/app\.example[^"]*">|<form method="post" action="\/connect\/[\w-]+">/,
      );
    }
  });

  it('L14: no token, state, code, cookie or identifier reaches the log', async () => {
    const identifier = person();
    const browser = browserFor(world.as);
    const link = await world.link(identifier, { state: 'a-state-of-the-application' });
    const start = await submitLink(browser, link);
    const leading = await consent(browser, await browser.follow(start), 'logged');
    const back = await browser.open(leading.location as string);
    const { authRequestId } = returned(back);
    await verifyUser(world.server, authRequestId, identifier);
    await browser.open(leading.location as string);
    const callback = new URL(leading.location as string).searchParams;
    const secrets = [
      link.split('/').at(-1),
      callback.get('state'),
      callback.get('code'),
      new URL(start.location as string).searchParams.get('code_challenge'),
      browser.cookie(world.server.origin, 'valetkey-flow'),
      authRequestId,
      identifier,
      'a-state-of-the-application',
      await world.token(identifier),
    ];
    const log = world.server.logs.join('');
    for (const secret of secrets) {
      expect(secret).to.be.a('string').with.length.greaterThan(10);
      expect(log).not.to.include(secret as string);
    }
    for (const page of ['openLink', 'submitLink', 'finishConsent', 'verifyUser']) expect(log).to.include(`"${page}"`);
  });

  it('L13: text that a provider or another party puts into the callback appears on no page', async () => {
    const link = await world.link(person());
    const browser = browserFor(world.as);
    const statuses = new Set<number>();
    for (const [place, text] of NAUGHTY.entries()) {
      const start = new URL((await submitLink(browser, link)).location as string);
      const callback = new URL(`${world.server.origin}/oauth/callback/${world.connectionId}`);
      const error = place % 3 === 0 ? 'access_denied' : place % 3 === 1 ? 'server_error' : `${text}x`;
      const marked = `mark-${place}-${text}-mark`;
      const own = { state: start.searchParams.get('state') ?? '', iss: world.as.issuer };
      callback.search = new URLSearchParams({ ...own, error, error_description: marked, error_uri: marked }).toString();
      const page = await browser.open(callback.href);
      statuses.add(page.status);
      expect(page.text).not.to.include(`mark-${place}`);
      if (place % 3 === 2 && text.length > 8) expect(page.text).not.to.include(text);
      const stray = await new TestBrowser().open(callback.href);
      expect(stray.status).to.equal(400);
      expect(stray.text).not.to.include(`mark-${place}`);
    }
    expect([...statuses].sort()).to.deep.equal([403, 502]);
    expect(world.as.hits('/token')).to.equal(world.as.sent('/token').filter(({ code }) => code).length);
  });

  it('L13: names chosen by a tenant are shown as text on the pages, with any content', async () => {
    const hostile = '<script>alert(1)</script>"\'><img src=x>';
    const field = { ...API_KEY_PATTERN.fields[0], label: hostile, hint: hostile };
    const pattern = { ...API_KEY_PATTERN, display_name: hostile, description: hostile, fields: [field] };
    const provider = await createProvider(world.server, { display_name: `Acme ${hostile}`, auth_patterns: [pattern] });
    const connection = await createConnection(world.server, {
      connector: provider.identifier,
      organization_name: hostile,
    });
    const options = { connector: connection.key_id, identifier: hostile, user_id: 'hostile' };
    const link = await makeLink(world.server, options);
    const pages = [await new TestBrowser().open(link), await submitLink(new TestBrowser(), link, { api_key: '' })];
    for (const { text } of pages) {
      expect(withoutOwnScript(text)).not.to.match(/<script|<img/);
      expect(text).to.include('&lt;script&gt;alert(1)&lt;/script&gt;');
    }
  });

  it('L13: choices and scopes named by a tenant are shown as text, with any content', async () => {
    const hostile = '"><script>alert(1)</script><img src=x>';
    const { server } = world;
    const choice = { field_name: 'region', label: 'Region', input_type: 'select', options: ['eu'], required: true };
    const named = { ...choice, option_names: { eu: hostile } };
    const keyed = await createProvider(server, {
      auth_patterns: [{ ...API_KEY_PATTERN, fields: [...API_KEY_PATTERN.fields, named] }],
    });
    const uri = 'https://provider.example';
    const scope = { scope: 'files.<img/src=x>', display_name: hostile, description: hostile, required: true };
    const asking = await createProvider(server, {
      auth_patterns: [
        {
          type: 'OAUTH',
          oauth_config: { authorize_uri: `${uri}/authorize`, token_uri: `${uri}/token`, available_scopes: [scope] },
        },
      ],
    });
    const client = { client_id: 'client', client_secret: 'secret', scopes: [scope.scope, 'other.<img/src=x>'] };
    for (const connection of [
      await createConnection(server, { connector: keyed.identifier }),
      await createConnection(server, { connector: asking.identifier, ...client }),
    ]) {
      const link = await makeLink(server, { connector: connection.key_id, identifier: 'ada', user_id: 'choices' });
      const { text, status } = await new TestBrowser().open(link);
      expect(status).to.equal(200);
      expect(withoutOwnScript(text)).not.to.match(/<script|<img(?! src="\/icons)/);
      // In long names, a line may break before each sign.
      expect(text.replaceAll('<wbr>', '')).to.include('&lt;script&gt;alert(1)&lt;/script&gt;');
    }
  });

  describe('forms', () => {
    it('are accepted only from the page of this link in this browser', async () => {
      const link = await makeLink(world.server, { connector: keys });
      const other = await makeLink(world.server, { connector: keys });
      const browser = new TestBrowser();
      const own = hiddenFields(await browser.open(link));
      const foreign = hiddenFields(await browser.open(other));
      const strange = new TestBrowser();
      await strange.open(link);
      const send = (who: TestBrowser, hidden: Record<string, string>, headers = {}) =>
        who.submit(link, { ...hidden, field_api_key: 'a-key' }, headers);
      const refused = [
        await send(browser, {}),
        await send(browser, foreign),
        await send(strange, own),
        await send(new TestBrowser(), own),
        await send(browser, own, { 'sec-fetch-site': 'cross-site' }),
        await send(browser, own, { 'sec-fetch-site': 'same-site' }),
        await send(browser, own, { 'sec-fetch-site': 'none' }),
      ];
      expect(refused.map(({ status }) => status)).to.deep.equal(refused.map(() => 403));
      const form = new URLSearchParams({ ...own, field_api_key: 'a-key' }).toString();
      const elsewhere = await request(link, {
        method: 'POST',
        headers: {
          'content-type': 'application/x-www-form-urlencoded',
          origin: 'https://evil.example',
          cookie: `valetkey-flow=${browser.cookie(world.server.origin, 'valetkey-flow')}`,
        },
        body: form,
      });
      await elsewhere.body.dump();
      expect(elsewhere.statusCode).to.equal(403);
      expect((await send(browser, own)).status, 'the control').to.equal(303);
    });

    it('set a cookie that scripts cannot read and other sites do not send', async () => {
      const link = await makeLink(world.server, { connector: keys });
      const { headers } = await new TestBrowser().open(link);
      expect(headers['set-cookie']).to.match(/^valetkey-flow=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax$/);
      expect((await new TestBrowser().open(link, 'HEAD')).status).to.equal(200);
    });

    it('set a cookie that is limited to one host, and to TLS if the server has TLS (L3)', async () => {
      const other = await addSecondEnvironment(world.server, { kind: 'PRODUCTION' });
      const provider = { display_name: 'Secure Desk', auth_patterns: [API_KEY_PATTERN] };
      await other.call('POST', '/api/v1/custom-providers', { body: provider });
      const url = 'https://app.example/verify';
      await other.call('PUT', '/api/v1/environment', { body: { user_verify_urls: [url] } });
      const body = { connector: 'secure-desk', identifier: 'a', user_id: 'a', user_verify_url: url };
      const { link } = (await other.call('POST', '/api/v1/connected_accounts/magic_link', { body })).body;
      const { pathname } = new URL(link);
      const { headers } = await other.call('GET', pathname);
      const secure = /^__Host-valetkey-flow=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Secure$/;
      expect(headers['set-cookie']).to.match(secure);
      expect(headers['content-security-policy']).to.include("form-action 'self' https:; ");
      const plain = await world.server.call('GET', pathname);
      expect(plain.status, 'at the host of another environment').to.equal(404);
    });

    it('are small, plain and in UTF-8', async () => {
      const link = await makeLink(world.server, { connector: keys });
      const send = async (body: string, type = 'application/x-www-form-urlencoded') => {
        const answer = await request(link, { method: 'POST', headers: { 'content-type': type }, body });
        const text = await answer.body.text();
        expect(text).to.match(/^<!doctype html>/);
        return answer.statusCode;
      };
      expect(await send('x'.repeat(256 * 1024 + 1))).to.equal(413);
      expect(await send('{}', 'application/json')).to.equal(415);
      expect(await send('a=%ff')).to.equal(400);
      expect(await send('')).to.equal(403);
    });
  });

  it('return pages also for errors: methods, hosts, limits', async () => {
    const { origin } = world.server;
    const ask = async (method: string, path: string, headers: Record<string, string> = {}) => {
      const answer = await request(`${origin}${path}`, { method: method as 'GET', headers });
      const text = await answer.body.text();
      expect(text, `${method} ${path}`).to.match(/^<!doctype html>/);
      return answer.statusCode;
    };
    expect(await ask('DELETE', '/connect/connected')).to.equal(405);
    expect(await ask('PUT', `/oauth/callback/${world.connectionId}`)).to.equal(405);
    // A POST contains the value of a fragment, and is accepted only from a browser that is in such a flow.
    expect(await ask('POST', `/oauth/callback/${world.connectionId}`)).to.equal(400);
    expect(await ask('GET', '/oauth/callback/')).to.equal(404);
    for (const path of ['/connect/%ff', '/oauth/callback/%zz', '/connect/assets/%00', '/connect/assets/..%2fpage.ts']) {
      expect(await ask('GET', path)).to.equal(404);
    }
    expect(await ask('GET', '/connect/connected', { host: 'unknown.example' })).to.equal(421);
    expect((await request(`${origin}/oauth/callback/x`, { method: 'HEAD' })).statusCode).to.equal(400);
  });
});
