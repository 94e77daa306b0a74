import { expect } from 'chai';
import { hiddenFields, TestBrowser, withoutIsolation } from '../support/browser.ts';
import { type LinkWorld, startLinkWorld } from '../support/link-world.ts';
import {
  accountOf,
  allowVerifyUrls,
  browserFor,
  consent,
  keyConnector,
  makeLink,
  reachSignIn,
  submitLink,
  VERIFY_URL,
} from '../support/links.ts';

/** The parameters that the application receives. */
const told = (location: string | undefined) => {
  const url = new URL(location ?? '');
  expect(`${url.origin}${url.pathname}`).to.equal(VERIFY_URL);
  return Object.fromEntries(url.searchParams);
};

describe('the return from a link to the application', () => {
  let world: LinkWorld;

  before(async () => {
    world = await startLinkWorld();
    await world.server.call('PUT', '/api/v1/environment', { body: { application_name: 'Contoso' } });
    // The server uses changed settings within seconds of its clock.
    world.clock.advance(10_000);
  });
  after(() => world.stop());

  const leave = async (browser: TestBrowser, link: string, text: string) =>
    browser.submit(link, { ...hiddenFields({ text } as never), decision: 'cancel' });

  it('ends the link when the user cancels, and notifies the application', async () => {
    const link = await world.link('canceller', { state: 'a state & more' });
    const browser = new TestBrowser();
    const page = await browser.open(link);
    const left = await leave(browser, link, page.text);
    expect(left.status).to.equal(303);
    expect(told(left.location)).to.deep.equal({
      error: 'access_denied',
      error_description: 'The user or the provider did not allow access.',
      state: 'a state & more',
    });
    expect(await world.actions('canceller')).to.include('link.failed');
    expect(await world.status('canceller')).to.equal('PENDING_AUTH');
    const again = await browser.open(link);
    expect(again.status).to.equal(410);
    expect(again.text).to.include('error=access_denied').and.include('Back to');
  });

  it('is a button after the provider declined, beside another attempt', async () => {
    const link = await world.link('decliner');
    const browser = browserFor(world.as);
    const leading = await consent(browser, await reachSignIn(browser, link), null);
    const refused = await browser.open(leading.location as string);
    expect(refused.status).to.equal(403);
    expect(withoutIsolation(refused.text)).to.include('Back to Contoso').and.include('Try again');
    expect(await world.actions('decliner')).to.include('link.denied');
    expect((await browser.open(link)).status, 'the link is still open').to.equal(200);
    const left = await leave(browser, link, refused.text);
    expect(told(left.location)).to.include({ error: 'access_denied' });
  });

  it('shows the error of a provider until the user starts again', async () => {
    const link = await world.link('unlucky');
    const browser = browserFor(world.as);
    const leading = await consent(browser, await reachSignIn(browser, link), 'alice');
    const callback = new URL(leading.location as string);
    callback.searchParams.set('code', 'another-code');
    const fault = await browser.open(callback.href);
    expect(fault.status).to.equal(502);
    expect(await world.actions('unlucky')).to.include('link.attempt_failed');
    const left = await leave(browser, link, fault.text);
    expect(told(left.location)).to.include({ error: 'server_error' });

    const second = await world.link('unlucky again');
    const other = browserFor(world.as);
    const failing = new URL((await consent(other, await reachSignIn(other, second), 'bob')).location as string);
    failing.searchParams.set('code', 'another-code');
    await other.open(failing.href);
    await submitLink(other, second);
    const page = await other.open(second);
    expect(told((await leave(other, second, page.text)).location)).to.include({ error: 'access_denied' });
  });

  it('works from an expired link, to the address that was allowed when it was created', async () => {
    const link = await world.link('late', { state: 's' });
    world.clock.advance(16 * 60_000);
    const page = await new TestBrowser().open(link);
    expect(page.status).to.equal(410);
    const href = /class="button" href="([^"]+)"/.exec(page.text)?.[1]?.replaceAll('&amp;', '&');
    expect(told(href)).to.deep.equal({
      error: 'expired_token',
      error_description: 'The link has expired.',
      state: 's',
    });
  });

  it('works from the last page only to an application of the environment', async () => {
    const last = `${world.server.origin}/connect/connected`;
    const buttons = async (application: string) => {
      const { text } = await new TestBrowser().open(`${last}?application=${encodeURIComponent(application)}`);
      return [...text.matchAll(/class="button" href="([^"]*)"/g)].map(([, href]) => href);
    };
    expect(await buttons('https://app.example')).to.deep.equal(['https://app.example']);
    for (const foreign of ['https://evil.example', 'javascript:alert(1)', 'https://app.example/path', 'null', ''])
      expect(await buttons(foreign), foreign).to.deep.equal(['https://app.example']);
  });

  it('is refused to other sites, to another browser, and for a link that was finished', async () => {
    const link = await world.link('attacked');
    const browser = browserFor(world.as);
    const page = await browser.open(link);
    const fields = { ...hiddenFields(page), decision: 'cancel' };
    const elsewhere = { 'sec-fetch-site': 'cross-site' };
    expect((await browser.submit(link, fields, elsewhere)).status).to.equal(403);
    expect((await new TestBrowser().submit(link, fields)).status).to.equal(403);
    expect((await browser.submit(link, { decision: 'cancel' })).status).to.equal(403);
    expect((await browser.open(link)).status, 'nothing has ended').to.equal(200);
    await world.finished(link);
    expect((await browser.submit(link, fields)).status).to.equal(200);
    expect((await accountOf(world.server, 'attacked'))?.status).to.equal('PENDING_VERIFICATION');
  });

  it('uses the address of the link, also after the allowed addresses of the environment have changed', async () => {
    const link = await world.link('moved');
    await allowVerifyUrls(world.server, 'https://other.example/verify');
    const browser = new TestBrowser();
    const left = await leave(browser, link, (await browser.open(link)).text);
    expect(told(left.location)).to.include({ error: 'access_denied' });
    await allowVerifyUrls(world.server, VERIFY_URL);
  });

  it('uses the language of the link on every page', async () => {
    const keys = await keyConnector(world.server);
    const link = await makeLink(world.server, { connector: keys, language: 'de-AT' } as never);
    const page = await new TestBrowser().open(link);
    expect(page.text).to.include('<html lang="de" dir="ltr">').and.include('Abbrechen');
    expect(page.headers).to.include({ 'content-language': 'de', vary: 'accept-language' });
    expect((await submitLink(new TestBrowser(), link)).text).to.include('muss ausgefüllt sein');
    const arabic = await makeLink(world.server, { connector: keys, language: 'ar' } as never);
    expect((await new TestBrowser().open(arabic)).text).to.include('<html lang="ar" dir="rtl">');
  });
});
