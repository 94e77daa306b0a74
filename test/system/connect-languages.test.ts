import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import { CONNECT_PAGES } from '../../scripts/screens/connect-pages.ts';
import { LANGUAGES } from '../../web/languages/texts.ts';
import { DESK, launch, openPage, PHONE, violations } from './support/connect-browser.ts';
import { serveUserPages, USER_PAGES } from './support/user-pages.ts';

/**
 * The pages with the most elements. The others have the same title, sentence and buttons, which these tests audit in
 * English.
 */
const AUDITED = ['start', 'form-with-problems', 'access', 'portal'];

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
      await serveUserPages(page);
      for (const name of Object.keys(USER_PAGES)) {
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
      await serveUserPages(page);
      for (const name of Object.keys(CONNECT_PAGES)) {
        await page.goto(`http://pages.test/en/${name}`);
        expect(await violations(page), name).to.deep.equal([]);
      }
      await page.context().close();
    });
  }

  it('show Cancel as the secondary button, and without scripts no button that needs one', async () => {
    const { page } = await openPage(browser, { viewport: DESK });
    await serveUserPages(page);
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
    await serveUserPages(page);
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
