import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { chromium } from 'playwright-core';
import type { AuthorizationServer } from '../support/authorization-server.ts';
import { startAuthorizationServer } from '../support/authorization-server.ts';
import {
  accountOf,
  allowVerifyUrls,
  consentConnector,
  keyConnector,
  makeLink,
  startLinkServer,
  verifyUser,
} from '../support/links.ts';
import type { TestServer } from '../support/server.ts';
import { makeCertificate } from '../support/tls/certificates.ts';

const CHROMIUM = '/usr/bin/chromium';
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const PHONE = { width: 360, height: 640 };
const DESK = { width: 1280, height: 900 };

/** A page with everything that went wrong on the way to it, and every host that was asked. */
interface Watched {
  page: Page;
  complaints: string[];
  hosts: Set<string>;
}

describe('the pages of links in a browser', function () {
  this.timeout(120_000);
  let as: AuthorizationServer;
  let server: TestServer;
  let app: Server;
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
    app = createServer(
      (req, res) => void verifyArrival(req.url ?? '/').then((to) => res.writeHead(302, { location: to }).end()),
    );
    await new Promise<void>((resolve) => app.listen(0, '127.0.0.1', resolve));
    verifyUrl = `http://127.0.0.1:${(app.address() as AddressInfo).port}/verify`;
    await allowVerifyUrls(server, verifyUrl);
    ({ connector } = await consentConnector(server, as));
    keys = await keyConnector(server);
    browser = await chromium.launch({
      executablePath: CHROMIUM,
      args: [
        ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'],
        `--host-resolver-rules=MAP as.example:443 127.0.0.1:${as.securePort}, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1`,
      ],
    });
  });
  after(async () => {
    await browser?.close();
    await server?.stop();
    await as?.stop();
    app?.close();
  });

  /** The application: whoever arrives is the user whom the state names, as a session would. */
  async function verifyArrival(target: string): Promise<string> {
    const query = new URL(target, verifyUrl).searchParams;
    const answer = await verifyUser(server, query.get('auth_request_id') ?? '', query.get('state') ?? '');
    return answer.body.post_user_verify_redirect_url ?? '/refused';
  }

  async function linkFor(connectorName: string): Promise<{ link: string; identifier: string }> {
    made += 1;
    const identifier = `person-${made}@app.example`;
    const options = { connector: connectorName, identifier, user_id: identifier, state: identifier };
    return { link: await makeLink(server, { ...options, user_verify_url: verifyUrl }), identifier };
  }

  async function open(options: BrowserContextOptions = {}): Promise<Watched> {
    const context = await browser.newContext({ viewport: DESK, ignoreHTTPSErrors: true, ...options });
    const page = await context.newPage();
    const watched: Watched = { page, complaints: [], hosts: new Set() };
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) watched.complaints.push(message.text());
    });
    page.on('pageerror', (error) => watched.complaints.push(String(error)));
    page.on('requestfailed', (request) => watched.complaints.push(`${request.url()} failed`));
    page.on('request', (request) => watched.hosts.add(new URL(request.url()).host));
    return watched;
  }

  for (const javaScriptEnabled of [true, false]) {
    for (const viewport of [PHONE, DESK]) {
      const how = `${javaScriptEnabled ? 'with' : 'without'} JavaScript, ${viewport.width} pixels wide`;

      it(`lead by clicking from the link through consent to the end, ${how}`, async () => {
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
        expect([...hosts]).to.have.members([new URL(server.origin).host, 'as.example', new URL(verifyUrl).host]);
        await page.context().close();
      });
    }
  }

  it('lead on when the provider asks nothing, in one chain of redirects from the form', async () => {
    const { page, complaints } = await open();
    for (const _time of ['first', 'second']) {
      const { link, identifier } = await linkFor(connector);
      await page.goto(link);
      await page.getByRole('button').click();
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

  it('would have noticed: browsers hold the policy of forms against redirects as well', async () => {
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

  it('say that the person refused, and let them try again', async () => {
    const { link, identifier } = await linkFor(connector);
    const { page } = await open();
    await page.goto(link);
    await page.getByRole('button').click();
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

  it('are finished with the keyboard alone, mistakes included', async () => {
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
    await page.keyboard.press('Tab');
    await page.keyboard.press('Space');
    await page.getByRole('heading', { name: 'Connected' }).waitFor();
    expect((await accountOf(server, identifier))?.status).to.equal('ACTIVE');
    expect(complaints.filter((text) => !/400 \(Bad Request\)/.test(text))).to.deep.equal([]);
    await page.context().close();
  });

  describe('by axe-core', () => {
    /** The pages by name, and how to get there. */
    const pages: Record<string, (page: Page) => Promise<unknown>> = {
      start: async (page) => page.goto((await linkFor(connector)).link),
      form: async (page) => page.goto((await linkFor(keys)).link),
      problems: async (page) => {
        await page.goto((await linkFor(keys)).link);
        await page.getByRole('button').click();
      },
      waiting: async (page) => {
        const { link } = await linkFor(keys);
        await page.goto(link);
        await page.getByLabel('API key').fill('a-key');
        await page.route(`${verifyUrl}**`, (route) => route.fulfill({ body: 'the application is slow' }));
        await page.getByRole('button').click();
        await page.goto(link);
      },
      connected: (page) => page.goto(`${server.origin}/connect/connected`),
      expired: (page) => page.goto(`${server.origin}/connect/${'x'.repeat(43)}`),
      refused: async (page) => {
        await page.goto((await linkFor(connector)).link);
        await page.getByRole('button').click();
        await page.getByRole('button', { name: 'Deny' }).click();
        await page.getByRole('heading', { name: 'Not connected' }).waitFor();
      },
      stray: (page) => page.goto(`${server.origin}/oauth/callback/conn_x?code=x&state=y`),
      missing: (page) => page.goto(`${server.origin}/connect/a/b`),
    };

    for (const [name, reach] of Object.entries(pages)) {
      for (const colorScheme of ['light', 'dark'] as const) {
        it(`the page ${name} breaks no rule, ${colorScheme}`, async () => {
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

    it('would have noticed: a field without a label, and text that is too pale', async () => {
      const { page } = await open();
      await page.goto((await linkFor(keys)).link);
      await page.evaluate(
        `document.querySelector('label').remove(); document.querySelector('h1').style.color = '#ddd';`,
      );
      expect(await violations(page)).to.include.members(['label', 'color-contrast']);
      await page.context().close();
    });
  });

  async function focused(page: Page): Promise<string> {
    return (await page.evaluate('document.activeElement.id')) as string;
  }

  async function violations(page: Page): Promise<string[]> {
    await page.evaluate(AXE);
    const found = (await page.evaluate('axe.run()')) as { violations: { id: string }[] };
    return found.violations.map(({ id }) => id);
  }
});
