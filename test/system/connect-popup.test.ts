import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { type AuthorizationServer, startAuthorizationServer } from '../support/authorization-server.ts';
import {
  accountOf,
  allowVerifyUrls,
  consentConnector,
  keyConnector,
  makeLink,
  startLinkServer,
} from '../support/links.ts';
import type { TestServer } from '../support/server.ts';
import { makeCertificate } from '../support/tls/certificates.ts';
import { launch, openPage } from './support/connect-browser.ts';
import { type PopupApp, startPopupApp } from './support/popup-app.ts';

describe('links in a popup', () => {
  let as: AuthorizationServer;
  let isolated: AuthorizationServer;
  let server: TestServer;
  let app: PopupApp;
  let stranger: PopupApp;
  let browser: Browser;
  const connectors = { consent: '', isolated: '', keys: '' };
  let made = 0;

  before(async () => {
    const certificate = makeCertificate({ name: 'as.example', altNames: ['as.example', 'isolated.example'] });
    as = await startAuthorizationServer({ certificate });
    isolated = await startAuthorizationServer({ certificate, name: 'isolated', isIsolated: true });
    server = await startLinkServer({
      env: { VALETKEY_ENDPOINT_OVERRIDES: `${as.override},${isolated.override}` },
    });
    [app, stranger] = [await startPopupApp(() => server), await startPopupApp(() => server)];
    await allowVerifyUrls(server, app.verifyUrl);
    connectors.consent = (await consentConnector(server, as)).connector;
    connectors.isolated = (await consentConnector(server, isolated)).connector;
    connectors.keys = await keyConnector(server);
    browser = await launch({ 'as.example': as.securePort, 'isolated.example': isolated.securePort });
  });
  after(async () => {
    await browser?.close();
    for (const each of [app, stranger]) each?.stop();
    await server?.stop();
    await as?.stop();
    await isolated?.stop();
  });
  afterEach(() => Promise.all(browser.contexts().map((context) => context.close())));

  async function newLink(connector: string): Promise<string> {
    made += 1;
    app.user = `popup-${made}@app.example`;
    const options = { connector, identifier: app.user, user_id: app.user, state: `state-${made}` };
    return makeLink(server, { ...options, user_verify_url: app.verifyUrl });
  }

  /** Presses the button of the application. @returns its page and the popup */
  async function openPopup(link: string, at: PopupApp = app) {
    at.link = link;
    const watched = await openPage(browser);
    await watched.page.goto(at.origin);
    const [popup] = await Promise.all([
      watched.page.waitForEvent('popup'),
      watched.page.getByRole('button', { name: 'Connect' }).click(),
    ]);
    return { ...watched, popup };
  }

  async function outcomeOf(page: Page) {
    return JSON.parse(await page.locator('output:not(:empty)').innerText());
  }

  /** Makes a page report that it lacks the focus, as a page behind a popup does. Headless pages always have focus. */
  const loseFocus = (page: Page) => page.evaluate('document.hasFocus = () => false');

  async function signIn(popup: Page, answer: 'Allow' | 'Deny' = 'Allow'): Promise<void> {
    await popup.getByRole('button', { name: /^Continue to/ }).click();
    await popup.getByLabel('User name').fill('ada');
    await popup.getByRole('button', { name: answer }).click();
  }

  const status = async () => (await accountOf(server, app.user))?.status;

  it('sends the application the values to verify, and closes', async () => {
    const { page, popup, complaints } = await openPopup(await newLink(connectors.consent));
    const closed = popup.waitForEvent('close');
    await signIn(popup);
    const outcome = await outcomeOf(page);
    await closed;
    const [id] = app.sent.slice(-1);
    expect(outcome).to.deep.equal({
      outcome: 'completed',
      auth_request_id: id,
      state: `state-${made}`,
      verification: 200,
    });
    expect(app.arrived).not.to.include(id);
    expect(await status()).to.equal('ACTIVE');
    expect(complaints).to.deep.equal([]);
  });

  it('lets users enter a key there too', async () => {
    const { page, popup } = await openPopup(await newLink(connectors.keys));
    await popup.getByRole('button', { name: 'Connect', exact: true }).click();
    await popup.getByRole('alert').waitFor();
    await popup.getByLabel('API key').fill('a-typed-key');
    await popup.getByRole('button', { name: 'Connect', exact: true }).click();
    expect(await outcomeOf(page)).to.include({ outcome: 'completed', verification: 200 });
    expect(await status()).to.equal('ACTIVE');
  });

  it('reports that the user chose Cancel, also after a refusal at the provider', async () => {
    const { page, popup } = await openPopup(await newLink(connectors.consent));
    await popup.getByRole('button', { name: 'Cancel' }).click();
    const denied = {
      outcome: 'denied',
      error: 'access_denied',
      error_description: 'The user or the provider did not allow access.',
    };
    expect(await outcomeOf(page)).to.deep.equal({ ...denied, state: `state-${made}` });

    const second = await openPopup(await newLink(connectors.consent));
    await signIn(second.popup, 'Deny');
    await second.popup.getByRole('link', { name: 'Try again' }).click();
    await signIn(second.popup, 'Deny');
    await second.popup.getByRole('button', { name: /^Back to/ }).click();
    expect(await outcomeOf(second.page)).to.deep.equal({ ...denied, state: `state-${made}` });
  });

  it('reports that the link has expired', async () => {
    const { page } = await openPopup(`${server.origin}/connect/${'x'.repeat(43)}`);
    expect(await outcomeOf(page)).to.include({ outcome: 'expired', error: 'expired_token' });
  });

  it('reports that the popup was closed, and opens the same link again', async () => {
    const link = await newLink(connectors.consent);
    const { page, popup } = await openPopup(link);
    await popup.getByRole('heading', { level: 1 }).waitFor();
    await popup.close();
    expect(await outcomeOf(page)).to.deep.equal({ outcome: 'closed' });
    const [again] = await Promise.all([page.waitForEvent('popup'), page.getByRole('button').click()]);
    await signIn(again);
    expect(await outcomeOf(page)).to.include({ outcome: 'completed', verification: 200 });
  });

  it('reads the outcome from the server if the provider separates the popup from the application', async () => {
    const { page, popup } = await openPopup(await newLink(connectors.isolated));
    await loseFocus(page);
    await signIn(popup);
    await popup.getByRole('heading', { name: 'Connected' }).waitFor();
    expect(await popup.evaluate('window.opener'), 'the popup is separated').to.equal(null);
    // The application has verified the user in the popup, so the page does not send the request's id.
    expect(await outcomeOf(page)).to.deep.equal({ outcome: 'completed', verified: true });
    expect(app.sent).not.to.include(app.arrived.at(-1));
    expect(await status()).to.equal('ACTIVE');

    const second = await openPopup(await newLink(connectors.isolated));
    await loseFocus(second.page);
    await signIn(second.popup, 'Deny');
    await second.popup.getByRole('button', { name: /^Back to/ }).click();
    expect(await outcomeOf(second.page)).to.include({ outcome: 'denied', error: 'access_denied' });
  });

  it('navigates to the link itself if popups are blocked', async () => {
    app.link = await newLink(connectors.consent);
    const { page } = await openPage(browser);
    await page.goto(app.origin);
    await page.evaluate('window.open = () => null');
    await page.getByRole('button', { name: 'Connect' }).click();
    await signIn(page);
    await page.getByRole('heading', { name: 'Connected' }).waitFor();
    expect(await status()).to.equal('ACTIVE');
  });

  it('resolves with `blocked` instead, on request, and rejects an address that is not a link', async () => {
    const { page } = await openPage(browser);
    await page.goto(app.origin);
    const refused = async (link: string) => {
      const opened = page.waitForEvent('popup');
      const closed = opened.then(async (popup) => popup.isClosed() || popup.waitForEvent('close'));
      const error = await page.evaluate(`valetkey.connect(${JSON.stringify(link)}).catch(String)`);
      await closed;
      return error;
    };
    for (const link of ['javascript:alert(1)//connect/x', 'not an address', `${server.origin}/portal`])
      expect(await refused(link), link).to.match(/TypeError/);
    await page.evaluate('window.open = () => null');
    const link = JSON.stringify(await newLink(connectors.consent));
    expect(await page.evaluate(`valetkey.connect(${link}, { redirect: false })`)).to.deep.equal({ outcome: 'blocked' });
  });

  it('L21: reveals nothing to a page of another origin, and leads the user to the application', async () => {
    stranger.link = await newLink(connectors.consent);
    const { page } = await openPage(browser);
    await page.goto(stranger.origin);
    // The page of the stranger behaves like the application, and repeats the message that makes a popup send the
    // outcome.
    await page.evaluate(`{
      const { open } = window;
      window.open = (...given) => {
        const popup = open.apply(window, given);
        setInterval(() => popup.postMessage({ type: 'valetkey', step: 'tell' }, '*'), 10);
        return popup;
      };
    }`);
    const [popup] = await Promise.all([page.waitForEvent('popup'), page.getByRole('button').click()]);
    await signIn(popup);
    await popup.getByRole('heading', { name: 'Connected' }).waitFor();
    await popup.close();
    // The server does not return the outcome to pages of other origins either, so the stranger only learns that the
    // popup was closed.
    expect(await outcomeOf(page)).to.deep.equal({ outcome: 'closed' });
    expect(await page.evaluate('results')).to.deep.equal([]);
    expect(stranger.sent).to.deep.equal([]);
    expect(app.arrived, 'the popup went to the application').to.have.length.greaterThan(0);
    expect(await status()).to.equal('ACTIVE');
  });

  it('L21: accepts messages only from the popup that it opened, at the address of the link', async () => {
    const { page } = await openPopup(await newLink(connectors.consent));
    await page.evaluate(`window.postMessage({ type: 'valetkey', step: 'outcome', result: { outcome: 'completed' } })`);
    const forging = page.waitForEvent('popup');
    await page.evaluate(`void window.open('${stranger.origin}')`);
    const forged = await forging;
    await forged.getByRole('button').waitFor();
    await forged.evaluate(
      `opener.postMessage({ type: 'valetkey', step: 'outcome', result: { outcome: 'completed' } }, '*')`,
    );
    const received = () => page.evaluate('results.length');
    while ((await received()) !== 2) await page.waitForTimeout(20);
    expect(await page.locator('output').textContent()).to.equal('');
  });
});
