import { expect } from 'chai';
import { request } from 'undici';
import { type BrowserPage, hiddenFields, TestBrowser } from '../support/browser.ts';
import { type LinkWorld, startLinkWorld } from '../support/link-world.ts';
import {
  allowVerifyUrls,
  browserFor,
  consent,
  keyConnector,
  makeLink,
  VERIFY_URL,
  verifyUser,
} from '../support/links.ts';
import { addSecondEnvironment } from '../support/second-environment.ts';

const APP = 'https://app.example';
const inPopup = (link: string) => `${link}?display=popup`;

interface Told {
  outcome: Record<string, string>;
  origins: string[];
  returnUrl: string;
}

/**
 * Returns what the last page of a popup sends, and the origins that it may send it to; undefined if it is another page.
 */
function told({ text }: BrowserPage): Told | undefined {
  const found = /data-outcome="([^"]*)" data-origins="([^"]*)" data-return-url="([^"]*)"/.exec(text);
  if (!found) return undefined;
  const [outcome, origins, returnUrl] = found.slice(1).map((value) => value.replaceAll('&quot;', '"'));
  const url = String(returnUrl).replaceAll('&amp;', '&');
  return { outcome: JSON.parse(String(outcome)), origins: JSON.parse(String(origins)), returnUrl: url };
}

describe('L21: links in a popup', () => {
  let world: LinkWorld;
  let keys: string;
  let made = 0;

  before(async () => {
    world = await startLinkWorld();
    await allowVerifyUrls(world.server, VERIFY_URL, `${APP}/other`, 'https://second.example/verify');
    keys = await keyConnector(world.server);
  });
  after(() => world.stop());

  const person = () => {
    made += 1;
    return `popup${made}@app.example`;
  };

  /** Requests the outcome of a link as a page of an origin does. */
  async function outcomeFor(link: string, origin?: string, host?: string) {
    const headers = { ...(origin && { origin }), ...(host && { host }) };
    const { statusCode, headers: sent, body } = await request(`${link}/outcome`, { headers });
    const text = await body.text();
    return { status: statusCode, text, allowed: sent['access-control-allow-origin'], vary: sent['vary'] };
  }

  async function walkInPopup(browser: TestBrowser, link: string, login: string | null = 'alice') {
    const page = await browser.open(inPopup(link));
    const started = await browser.submit(inPopup(link), hiddenFields(page));
    const leading = await consent(browser, await browser.follow(started), login);
    return { callback: leading.location as string, page: await browser.open(leading.location as string) };
  }

  it('sends messages only to the origins of the application, with no other secret than auth_request_id', async () => {
    const identifier = person();
    const link = await world.link(identifier, { state: '"><script>alert(1)</script>' });
    const browser = browserFor(world.as);
    const { callback, page } = await walkInPopup(browser, link);
    const { outcome, origins, returnUrl } = told(page) as Told;
    expect(origins).to.deep.equal([APP, 'https://second.example']);
    expect(outcome).to.have.all.keys('outcome', 'auth_request_id', 'state');
    expect(new URL(returnUrl).searchParams.get('auth_request_id')).to.equal(outcome['auth_request_id']);
    expect(page.text).not.to.include('<script>alert');
    const query = new URL(callback).searchParams;
    const secrets = [link.split('/').at(-1), query.get('code'), query.get('state')];
    for (const secret of [...secrets, browser.cookie(world.server.origin, 'valetkey-flow')])
      expect(page.text).not.to.include(secret as string);
    expect(page.headers['content-security-policy']).to.include("default-src 'none'; script-src 'self'; style-src");
    expect(page.headers['cache-control']).to.equal('no-store');
    expect((await verifyUser(world.server, outcome['auth_request_id'] as string, identifier)).status).to.equal(200);
  });

  it('gives the holder of a link its outcome, and never the values for a verification', async () => {
    const identifier = person();
    const link = await world.link(identifier);
    const seen = [await outcomeFor(link, APP)];
    const { page } = await walkInPopup(browserFor(world.as), link);
    seen.push(await outcomeFor(link, APP));
    const id = told(page)?.outcome['auth_request_id'] as string;
    await verifyUser(world.server, id, identifier);
    seen.push(await outcomeFor(link, APP));
    expect(seen.map(({ text }) => JSON.parse(text))).to.deep.equal([
      { outcome: 'pending' },
      { outcome: 'waiting' },
      { outcome: 'completed', verified: true },
    ]);
    expect(seen.map(({ text }) => text.includes(id) || text.includes(identifier))).to.deep.equal([false, false, false]);
  });

  it('fixation: an attacker who sends a victim a link of the attacker, in a popup or not, cannot get auth_request_id', async () => {
    const attacker = person();
    const link = await world.link(attacker);
    const { page } = await walkInPopup(browserFor(world.as), link, 'victim');
    const { outcome, origins, returnUrl } = told(page) as Told;
    // Only pages of the application get auth_request_id, in the victim's browser, where the session is the victim's.
    expect(origins.every((origin) => /^https:\/\/(app|second)\.example$/.test(origin))).to.equal(true);
    expect(returnUrl.startsWith(`${VERIFY_URL}?`)).to.equal(true);
    const seen = [
      await outcomeFor(link),
      await new TestBrowser().open(link),
      await new TestBrowser().open(inPopup(link)),
    ];
    for (const { text } of seen) expect(text).not.to.include(outcome['auth_request_id']);
    const verified = await verifyUser(world.server, outcome['auth_request_id'] as string, 'victim@app.example');
    expect(verified.status).to.equal(403);
  });

  it('replay: a used callback, form or link reveals nothing new', async () => {
    const identifier = person();
    const link = await world.link(identifier);
    const browser = browserFor(world.as);
    const { callback, page } = await walkInPopup(browser, link);
    const id = told(page)?.outcome['auth_request_id'] as string;
    const again = [await browser.open(callback), await browser.open(inPopup(link))];
    expect(again.map(({ status }) => status)).to.deep.equal([400, 200]);
    await verifyUser(world.server, id, identifier);
    again.push(await browser.open(inPopup(link)));
    for (const { text } of again) expect(text).not.to.include(id);
    expect(told(again.at(-1) as BrowserPage)?.outcome).to.deep.equal({ outcome: 'completed', verified: true });
    expect((await verifyUser(world.server, id, identifier)).status).to.equal(404);

    const keyLink = await makeLink(world.server, { connector: keys, identifier: person(), user_id: 'u' });
    const form = hiddenFields(await browser.open(inPopup(keyLink)));
    const submit = () => browser.submit(inPopup(keyLink), { ...form, field_api_key: 'a-key' });
    expect(told(await submit())?.outcome['outcome']).to.equal('completed');
    expect(told(await submit())).to.equal(undefined);
  });

  it('lets scripts of other origins read no outcome', async () => {
    const link = await world.link(person());
    for (const origin of ['https://evil.example', 'null', `${APP}.evil.example`, 'http://app.example', `${APP}:444`])
      expect(await outcomeFor(link, origin), origin).to.include({ allowed: undefined, vary: 'Origin' });
    expect(await outcomeFor(link, APP), 'the control').to.include({ status: 200, allowed: APP, vary: 'Origin' });
    await allowVerifyUrls(world.server, VERIFY_URL);
    expect(await outcomeFor(link, 'https://second.example')).to.include({ allowed: undefined });
    await allowVerifyUrls(world.server, VERIFY_URL, 'https://second.example/verify');
  });

  it('reveals nothing about a link at the host of another environment, or for a guessed token', async () => {
    const link = await world.link(person());
    const other = await addSecondEnvironment(world.server, { kind: 'PRODUCTION' });
    const expired = { outcome: 'expired', error: 'expired_token', error_description: 'The link has expired.' };
    const elsewhere = await other.call('GET', `${new URL(link).pathname}/outcome`);
    expect([elsewhere.status, elsewhere.body]).to.deep.equal([404, expired]);
    for (const token of ['x', 'x'.repeat(43), '%ff']) {
      const guessed = await outcomeFor(`${world.server.origin}/connect/${token}`, APP);
      expect(guessed.status, token).to.equal(404);
    }
  });

  it('reports a refusal and a failure as the application would receive them without a popup', async () => {
    const link = await world.link(person(), { state: 's' });
    const browser = browserFor(world.as);
    const { page } = await walkInPopup(browser, link, null);
    expect([page.status, told(page)]).to.deep.equal([403, undefined]);
    const back = /<form method="post" action="([^"]+)">/.exec(page.text)?.[1] as string;
    const left = await browser.submit(`${world.server.origin}${back}`, { ...hiddenFields(page), decision: 'cancel' });
    const { outcome, returnUrl } = told(left) as Told;
    const query = Object.fromEntries(new URL(returnUrl).searchParams);
    expect(outcome).to.deep.equal({ outcome: 'denied', ...query });
    expect(JSON.parse((await outcomeFor(link, APP)).text)).to.deep.equal({
      outcome: 'denied',
      error: 'access_denied',
      error_description: 'The user or the provider did not allow access.',
    });
  });

  it('has a script and types that match the policy of the pages', async () => {
    for (const [path, type] of [
      ['/connect.js', 'text/javascript; charset=utf-8'],
      ['/connect.d.ts', 'text/plain; charset=utf-8'],
    ]) {
      const { statusCode, headers, body } = await request(`${world.server.origin}${path}`);
      await body.dump();
      expect([statusCode, headers['content-type']]).to.deep.equal([200, type]);
      expect(headers).to.include({
        'access-control-allow-origin': '*',
        'cross-origin-resource-policy': 'cross-origin',
        'x-content-type-options': 'nosniff',
      });
    }
  });
});
