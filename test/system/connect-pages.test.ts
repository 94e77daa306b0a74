import { expect } from 'chai';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import type { AuthorizationServer } from '../support/authorization-server.ts';
import { startAuthorizationServer } from '../support/authorization-server.ts';
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
import { DESK, focused, launch, openPage, PHONE, startVerifyingApp, violations } from './support/connect-browser.ts';

describe('the pages of links in a browser', () => {
  let as: AuthorizationServer;
  let server: TestServer;
  let app: Awaited<ReturnType<typeof startVerifyingApp>>;
  let verifyUrl: string;
  let browser: Browser;
  let connector: string;
  let keys: string;
  let made = 0;

  before(async () => {
    as = await startAuthorizationServer({
      certificate: makeCertificate({ name: 'as.example', altNames: ['as.example'] }),
    });
    server = await startLinkServer({ env: { VALETKEY_ENDPOINT_OVERRIDES: as.override } });
    app = await startVerifyingApp(() => server);
    verifyUrl = app.url;
    await allowVerifyUrls(server, verifyUrl);
    ({ connector } = await consentConnector(server, as));
    keys = await keyConnector(server);
    browser = await launch({ 'as.example': as.securePort });
  });
  after(async () => {
    await browser?.close();
    await server?.stop();
    await as?.stop();
    app?.stop();
  });

  async function linkFor(connectorName: string): Promise<{ link: string; identifier: string }> {
    made += 1;
    const identifier = `person-${made}@app.example`;
    const options = { connector: connectorName, identifier, user_id: identifier, state: identifier };
    return { link: await makeLink(server, { ...options, user_verify_url: verifyUrl }), identifier };
  }

  const open = (options?: BrowserContextOptions) => openPage(browser, options);
  const proceed = (page: Page) => page.locator('button[value=continue]').click();

  for (const javaScriptEnabled of [true, false]) {
    for (const viewport of [PHONE, DESK]) {
      const how = `${javaScriptEnabled ? 'with' : 'without'} JavaScript, ${viewport.width} pixels wide`;

      it(`lead by clicks from the link through consent to the end, ${how}`, async () => {
        const { link, identifier } = await linkFor(connector);
        const { page, complaints, hosts } = await open({ javaScriptEnabled, viewport });
        await page.goto(link);
        expect(await page.getByRole('heading', { level: 1 }).innerText()).to.equal('Connect Acme Files');
        await page.getByRole('button', { name: 'Continue to Acme Files' }).click();
        await page.getByLabel('User name').fill('ada');
        await page.getByRole('button', { name: 'Allow' }).click();
        await page.getByRole('heading', { name: 'Connected' }).waitFor();
        expect((await accountOf(server, identifier))?.status).to.equal('ACTIVE');
        expect(complaints).to.deep.equal([]);
        expect(hosts()).to.have.members([new URL(server.origin).host, 'as.example', new URL(verifyUrl).host]);
        await page.context().close();
      });
    }
  }

  it('redirect from the form to the end when the provider asks nothing', async () => {
    const { page, complaints } = await open();
    for (const _time of ['first', 'second']) {
      const { link, identifier } = await linkFor(connector);
      await page.goto(link);
      await proceed(page);
      if (_time === 'first') {
        await page.getByLabel('User name').fill('chained');
        await page.getByRole('button', { name: 'Allow' }).click();
      }
      await page.getByRole('heading', { name: 'Connected' }).waitFor();
      expect((await accountOf(server, identifier))?.status).to.equal('ACTIVE');
    }
    expect(complaints).to.deep.equal([]);
    await page.context().close();
  });

  it('are subject to the form policy in redirects too (control)', async () => {
    const { page } = await open();
    await page.route('**/connect/*', async (route) => {
      if (route.request().method() !== 'GET') return route.continue();
      const response = await route.fetch();
      const policy =
        response.headers()['content-security-policy']?.replace(/form-action [^;]*/, "form-action 'self'") ?? '';
      return route.fulfill({ response, headers: { ...response.headers(), 'content-security-policy': policy } });
    });
    await page.goto((await linkFor(connector)).link);
    const [message] = await Promise.all([
      page.waitForEvent('console', (said) => said.text().includes('form-action')),
      page.evaluate(`document.querySelector('form').requestSubmit()`),
    ]);
    expect(message.text()).to.match(/violates.*form-action/);
    await page.context().close();
  });

  it('report that the user declined, and offer another attempt', async () => {
    const { link, identifier } = await linkFor(connector);
    const { page } = await open();
    await page.goto(link);
    await proceed(page);
    await page.getByRole('button', { name: 'Deny' }).click();
    await page.getByRole('heading', { name: 'Not connected' }).waitFor();
    await page.getByRole('link', { name: 'Try again' }).click();
    await page.getByRole('button', { name: 'Continue to Acme Files' }).click();
    await page.getByLabel('User name').fill('ada');
    await page.getByRole('button', { name: 'Allow' }).click();
    await page.getByRole('heading', { name: 'Connected' }).waitFor();
    expect((await accountOf(server, identifier))?.status).to.equal('ACTIVE');
    await page.context().close();
  });

  it('can be completed with the keyboard alone, also after mistakes', async () => {
    const { link, identifier } = await linkFor(keys);
    const { page, complaints } = await open({ viewport: PHONE });
    await page.goto(link);
    await page.keyboard.press('Tab');
    expect(await focused(page)).to.equal('field_api_key');
    await page.keyboard.press('Enter');
    const alert = page.getByRole('alert');
    expect(await alert.innerText()).to.include('API key is required');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    expect(await focused(page), 'the way from the problem to its field').to.equal('field_api_key');
    await page.keyboard.type('a-typed-key');
    // Moves the focus past the buttons that paste and show the key, to the button that connects.
    for (const _stop of ['paste', 'show', 'connect']) await page.keyboard.press('Tab');
    await page.keyboard.press('Space');
    await page.getByRole('heading', { name: 'Connected' }).waitFor();
    expect((await accountOf(server, identifier))?.status).to.equal('ACTIVE');
    expect(complaints.filter((text) => !/400 \(Bad Request\)|^400 /.test(text))).to.deep.equal([]);
    await page.context().close();
  });

  describe('by axe-core', () => {
    /** The pages by name, each with the steps to open it. */
    const pages: Record<string, (page: Page) => Promise<unknown>> = {
      start: async (page) => page.goto((await linkFor(connector)).link),
      form: async (page) => page.goto((await linkFor(keys)).link),
      problems: async (page) => {
        await page.goto((await linkFor(keys)).link);
        await proceed(page);
      },
      waiting: async (page) => {
        const { link } = await linkFor(keys);
        await page.goto(link);
        await page.getByLabel('API key').fill('a-key');
        await page.route(`${verifyUrl}**`, (route) => route.fulfill({ body: 'the application is slow' }));
        await proceed(page);
        await page.goto(link);
      },
      connected: (page) => page.goto(`${server.origin}/connect/connected`),
      expired: (page) => page.goto(`${server.origin}/connect/${'x'.repeat(43)}`),
      refused: async (page) => {
        await page.goto((await linkFor(connector)).link);
        await proceed(page);
        await page.getByRole('button', { name: 'Deny' }).click();
        await page.getByRole('heading', { name: 'Not connected' }).waitFor();
      },
      stray: (page) => page.goto(`${server.origin}/oauth/callback/conn_x?code=x&state=y`),
      missing: (page) => page.goto(`${server.origin}/connect/a/b`),
    };

    for (const [name, reach] of Object.entries(pages)) {
      for (const colorScheme of ['light', 'dark'] as const) {
        it(`finds no violation on the page ${name}, ${colorScheme}`, async () => {
          for (const viewport of [PHONE, DESK]) {
            const { page } = await open({ viewport, colorScheme });
            await reach(page);
            expect(await violations(page)).to.deep.equal([]);
            expect(await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth')).to.equal(true);
            await page.context().close();
          }
        });
      }
    }

    it('detects a field without a label, and text with low contrast (control)', async () => {
      const { page } = await open();
      await page.goto((await linkFor(keys)).link);
      await page.evaluate(
        `document.querySelector('label').remove(); document.querySelector('h1').style.color = '#ddd';`,
      );
      expect(await violations(page)).to.include.members(['label', 'color-contrast']);
      await page.context().close();
    });
  });
});
