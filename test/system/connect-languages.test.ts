import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { CONNECT_PAGES } from '../../scripts/screens/connect-pages.ts';
import { PORTAL_PAGES } from '../../scripts/screens/portal-pages.ts';
import { accentStyles } from '../../web/connect/accent.ts';
import { LANGUAGES, type LanguageTag, textsOf } from '../../web/languages/texts.ts';
import { DESK, launch, openPage, PHONE, violations } from './support/connect-browser.ts';

const ASSETS = join(import.meta.dirname, '../../web/assets');
const BRAND = {
  application: 'Contoso',
  logoUrl: '',
  accentUrl: '/accent.css',
  supportUrl: 'https://contoso.example/help',
  privacyUrl: 'https://contoso.example/privacy',
  termsUrl: 'https://contoso.example/terms',
  homeUrl: 'https://app.contoso.example',
};

/** The pages with the most elements. The others have the same title, sentence and buttons, which these tests audit in English. */
const AUDITED = ['start', 'form-with-problems', 'access', 'portal'];

const PAGES: typeof CONNECT_PAGES = { ...CONNECT_PAGES, ...PORTAL_PAGES };

/** Serves the pages without a server: the browser asks for an origin that does not exist. */
async function serve(page: Page): Promise<void> {
  await page.route('http://pages.test/**', (route) => {
    const { pathname } = new URL(route.request().url());
    const [, language = '', name = ''] = pathname.split('/');
    const found = PAGES[name];
    if (found) {
      const body = String(found({ texts: textsOf(language as LanguageTag), brand: BRAND }));
      return route.fulfill({ contentType: 'text/html; charset=utf-8', body });
    }
    if (pathname === '/accent.css') return route.fulfill({ contentType: 'text/css', body: accentStyles('#ffdd00') });
    const [sheet] = /(?:connect|portal)\.css$/.exec(pathname) ?? [];
    if (sheet) return route.fulfill({ contentType: 'text/css', body: readFileSync(join(ASSETS, sheet), 'utf8') });
    return route.fulfill({ contentType: 'image/svg+xml', body: '<svg xmlns="http://www.w3.org/2000/svg"/>' });
  });
}

const fits = 'document.documentElement.scrollWidth <= window.innerWidth';

describe('the pages for users in every language', () => {
  let browser: Browser;

  before(async () => {
    browser = await launch({});
  });
  after(() => browser.close());

  for (const language of Object.keys(LANGUAGES)) {
    it(`${language}: break no rule of axe, and fit on a narrow screen`, async () => {
      const { page } = await openPage(browser, { viewport: PHONE });
      await serve(page);
      for (const name of Object.keys(PAGES)) {
        await page.goto(`http://pages.test/${language}/${name}`);
        expect(await page.evaluate(fits), name).to.equal(true);
        if (AUDITED.includes(name)) expect(await violations(page), name).to.deep.equal([]);
      }
      await page.context().close();
    });
  }

  for (const colorScheme of ['light', 'dark'] as const) {
    it(`are readable with a pale brand color, ${colorScheme}`, async () => {
      const { page } = await openPage(browser, { viewport: DESK, colorScheme });
      await serve(page);
      for (const name of Object.keys(CONNECT_PAGES)) {
        await page.goto(`http://pages.test/en/${name}`);
        expect(await violations(page), name).to.deep.equal([]);
      }
      await page.context().close();
    });
  }

  it('show Cancel as the secondary button, and without scripts no button that needs one', async () => {
    const { page } = await openPage(browser, { viewport: DESK });
    await serve(page);
    await page.goto('http://pages.test/en/form');
    const groundOf = (selector: string) =>
      page.evaluate(`getComputedStyle(document.querySelector('${selector}')).backgroundColor`);
    expect(await groundOf('button.secondary')).to.equal('rgba(0, 0, 0, 0)');
    expect(await groundOf('button[value=continue]')).not.to.equal('rgba(0, 0, 0, 0)');
    expect(await page.locator('button.helper').first().isVisible()).to.equal(false);
    await page.context().close();
  });

  it('label their fields for screen readers', async () => {
    const { page } = await openPage(browser, { viewport: DESK });
    await serve(page);
    await page.goto('http://pages.test/en/form-with-problems');
    const tree = await page.locator('main').ariaSnapshot();
    for (const line of [
      '- heading "Connect Stripe" [level=1]',
      '- textbox "Sub-domain"',
      '- textbox "API key"',
      '- button "Connect"',
      '- button "Cancel"',
      '- alert',
    ])
      expect(tree).to.include(line);
    await page.context().close();
  });
});
