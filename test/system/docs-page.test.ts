import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { chromium } from 'playwright-core';
import { ERRORS } from '../../core/errors.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';

const CHROMIUM = '/usr/bin/chromium';
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** A page with its errors, and every address that it requested. */
interface Watched {
  page: Page;
  complaints: string[];
  requested: string[];
}

describe('the pages in a browser', () => {
  let server: TestServer;
  let browser: Browser;

  before(async () => {
    server = await startTestServer();
    browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
  });

  after(async () => {
    await browser?.close();
    await server?.stop();
  });

  describe('/docs', () => {
    let watched: Watched;

    before(async () => {
      watched = await open('/docs');
      await watched.page.locator('.opblock').first().waitFor();
    });

    it('renders every operation and every event of the contract', async () => {
      const document = JSON.parse(readFileSync(join(import.meta.dirname, '../../generated/openapi.json'), 'utf8'));
      const declared = Object.entries<Record<string, object>>({ ...document.paths, ...document.webhooks }).flatMap(
        ([path, item]) => Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
      );
      const rendered = await watched.page.locator('.opblock').evaluateAll((blocks) =>
        blocks.map((block) => {
          const text = (selector: string) => block.querySelector(selector)?.textContent ?? '';
          return `${text('.opblock-summary-method')} ${text('.opblock-summary-path').replaceAll('\u200b', '')}`;
        }),
      );
      expect(rendered.toSorted()).to.deep.equal(declared.toSorted());
    });

    it('opens an operation and shows its parameters and responses', async () => {
      const block = watched.page.locator('[id$="-executeTool"]');
      await block.locator('.opblock-summary').click();
      await block.locator('.responses-wrapper').waitFor();
      expect(await block.innerText())
        .to.include('Idempotency-Key')
        .and.include('502');
    });

    it('breaks no rule of its content security policy, logs no error and asks no other host', () => {
      expect(watched.complaints).to.deep.equal([]);
      expectOwnHost(watched);
    });

    it('would have noticed: an inline script is refused and reported', async () => {
      const probe = await open('/docs/errors');
      await probe.page.evaluate(
        `const script = document.createElement('script');
         script.textContent = 'document.title = "injected"';
         document.body.append(script);`,
      );
      expect(await probe.page.title()).to.equal('Valetkey error codes');
      expect(probe.complaints.join('\n')).to.match(/Content Security Policy/);
    });
  });

  describe('/docs/errors', () => {
    it('lists every code', async () => {
      const { page, complaints, requested } = await open('/docs/errors');
      const codes = await page.locator('tbody td:first-child code').allInnerTexts();
      expect(codes.toSorted()).to.deep.equal(Object.keys(ERRORS).toSorted());
      expect(complaints).to.deep.equal([]);
      expectOwnHost({ requested });
    });

    it('scrolls to the code that the type of a problem names', async () => {
      const { body } = await server.call('GET', '/api/v1/tools/no_such_tool');
      const { page } = await open(body.type, { width: 800, height: 300 });
      const row = page.locator('tr:target');
      expect(await row.locator('code').innerText()).to.equal(body.code);
      const box = await row.boundingBox();
      // The page may scroll a fraction of a pixel too far.
      expect(box?.y).to.be.within(-1, 300);
      expect(await page.evaluate('window.scrollY')).to.be.above(0);
    });
  });

  async function open(path: string, viewport = { width: 1280, height: 900 }): Promise<Watched> {
    const page = await browser.newPage({ viewport });
    const watched: Watched = { page, complaints: [], requested: [] };
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) watched.complaints.push(message.text());
    });
    page.on('pageerror', (error) => watched.complaints.push(String(error)));
    page.on('requestfailed', (request) => watched.complaints.push(`${request.url()} failed`));
    page.on('response', (response) => {
      if (response.status() >= 400) watched.complaints.push(`${response.url()} answered ${response.status()}`);
    });
    page.on('request', (request) => watched.requested.push(request.url()));
    await page.goto(`${server.origin}${path}`);
    return watched;
  }

  /** Checks that the page loads only from its own host; images may be data URLs. */
  function expectOwnHost({ requested }: Pick<Watched, 'requested'>): void {
    expect(requested).not.to.deep.equal([]);
    const foreign = requested.filter((url) => !url.startsWith(`${server.origin}/`) && !url.startsWith('data:'));
    expect(foreign).to.deep.equal([]);
  }
});
