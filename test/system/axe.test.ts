import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { buildReference } from '../../scripts/build-reference.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { launch, openPage, violations } from './support/connect-browser.ts';
import { serveUserPages, USER_PAGES } from './support/user-pages.ts';

/** The console has the same test with a day of data, in console.test.ts. */
const VIEWS = [320, 1440].flatMap((width) => (['light', 'dark'] as const).map((scheme) => [width, scheme] as const));

const GUIDES = readdirSync(join(import.meta.dirname, '../../docs')).filter((name) => name.endsWith('.md'));
const DOCUMENTS = ['/', '/docs/errors', '/docs/guides', ...GUIDES.map((name) => `/docs/guides/${name.slice(0, -3)}`)];

const fits = 'document.documentElement.scrollWidth <= window.innerWidth';

describe('every page without the console', () => {
  let browser: Browser;
  let server: TestServer;

  before(async () => {
    buildReference();
    [browser, server] = await Promise.all([launch({}), startTestServer()]);
  });
  after(async () => {
    await browser?.close();
    await server?.stop();
  });

  async function expectClean(page: Page, url: string): Promise<void> {
    const response = await page.goto(url);
    expect(response?.status(), url).to.equal(200);
    expect(await violations(page), url).to.deep.equal([]);
    expect(await page.evaluate(fits), `${url} fits`).to.equal(true);
  }

  for (const [width, colorScheme] of VIEWS) {
    const options = { viewport: { width, height: 900 }, colorScheme };

    it(`has no violation that axe finds, for users, ${width} px wide, ${colorScheme}`, async () => {
      const { page } = await openPage(browser, options);
      await serveUserPages(page);
      const language = colorScheme === 'light' ? 'en' : 'ar';
      for (const name of Object.keys(USER_PAGES)) await expectClean(page, `http://pages.test/${language}/${name}`);
      await page.context().close();
    });

    it(`has no violation that axe finds, front page and guides, ${width} px wide, ${colorScheme}`, async () => {
      const { page, complaints } = await openPage(browser, options);
      // The guides share one style, so each guide is checked in only one of the four views.
      const isWhole = width === 320 && colorScheme === 'light';
      for (const path of isWhole ? DOCUMENTS : DOCUMENTS.slice(0, 5))
        await expectClean(page, `${server.origin}${path}`);
      expect(complaints).to.deep.equal([]);
      await page.context().close();
    });
  }

  it('has no violation that axe finds, on an address without a page and one without a session', async () => {
    const { page } = await openPage(browser, { viewport: { width: 320, height: 640 } });
    for (const path of ['/connect/unknown', '/portal', '/oauth/authorize', '/nothing', '/docs/nothing']) {
      await page.goto(`${server.origin}${path}`);
      expect(await violations(page), path).to.deep.equal([]);
      expect(await page.evaluate(fits), path).to.equal(true);
    }
    await page.context().close();
  });

  it('leads from an address that does not exist back to the front page', async () => {
    const { page } = await openPage(browser, { viewport: { width: 320, height: 640 } });
    const response = await page.goto(`${server.origin}/nothing`);
    expect(response?.status()).to.equal(404);
    await page.getByRole('heading', { level: 1, name: 'Not found' }).waitFor();
    expect(await page.evaluate("getComputedStyle(document.querySelector('.problem')).maxWidth")).to.equal('640px');
    await page.getByRole('link', { name: 'front page' }).click();
    await page.getByRole('heading', { level: 1, name: 'Valetkey' }).waitFor();
    await page.context().close();
  });

  it('would have noticed: a text without contrast and a page that is too wide', async () => {
    const { page } = await openPage(browser, { viewport: { width: 320, height: 640 } });
    await page.goto(`${server.origin}/docs/guides`);
    await page.evaluate(
      "Object.assign(document.querySelector('main').style, { color: '#eee', background: '#fff', width: '900px' })",
    );
    expect(await violations(page)).to.include('color-contrast');
    expect(await page.evaluate(fits)).to.equal(false);
    await page.context().close();
  });
});
