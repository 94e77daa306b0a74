import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { makeLink, startLinkServer } from '../support/links.ts';
import type { TestServer } from '../support/server.ts';
import { launch, openPage, PHONE, violations } from './support/connect-browser.ts';

describe('the form for keys in a browser', () => {
  let server: TestServer;
  let browser: Browser;

  before(async () => {
    server = await startLinkServer();
    browser = await launch({});
  });
  after(async () => {
    await browser?.close();
    await server?.stop();
  });
  afterEach(() => Promise.all(browser.contexts().map((context) => context.close())));

  async function openForm(connector: string, options: Parameters<typeof openPage>[1] = {}) {
    const watched = await openPage(browser, { viewport: PHONE, ...options });
    await watched.page.goto(await makeLink(server, { connector }));
    return watched;
  }

  const problem = (page: Page) => page.locator('p.problem');

  it('links to the page where the key is created, in a separate tab without a reference to this one, also without scripts', async () => {
    const { page } = await openForm('stripe', { javaScriptEnabled: false });
    const link = page.getByRole('link', { name: 'Open Stripe to get it' });
    expect(await link.getAttribute('href')).to.equal('https://dashboard.stripe.com/apikeys');
    expect(await link.getAttribute('target')).to.equal('_blank');
    expect(await link.getAttribute('rel')).to.equal('noopener noreferrer');
    expect(await page.locator('form').getAttribute('novalidate'), 'the page says what is wrong itself').to.equal('');
  });

  it('reports an impossible key while the user types, and removes the message when it is corrected', async () => {
    const { page, complaints } = await openForm('stripe');
    const input = page.getByLabel('Secret or restricted key');
    await input.pressSequentially('pk_live');
    await problem(page).waitFor();
    expect(await problem(page).innerText()).to.equal('Secret or restricted key has an invalid format.');
    expect(await input.getAttribute('aria-invalid')).to.equal('true');
    const described = String(await input.getAttribute('aria-describedby')).split(' ');
    expect(described).to.include(await problem(page).getAttribute('id'));
    expect(await violations(page)).to.deep.equal([]);
    await input.fill(' sk_test_0123456789 ');
    await problem(page).waitFor({ state: 'detached' });
    expect(await input.getAttribute('aria-invalid')).to.equal(null);
    expect(complaints).to.deep.equal([]);
  });

  it('checks a pasted key at the button, and shows it on request', async () => {
    const { page } = await openForm('stripe', { permissions: ['clipboard-read', 'clipboard-write'] });
    await page.evaluate(`navigator.clipboard.writeText('  not a key ')`);
    await page.getByRole('button', { name: 'Paste' }).click();
    await problem(page).waitFor();
    const input = page.getByLabel('Secret or restricted key');
    expect(await input.inputValue()).to.equal('not a key');
    expect(await input.getAttribute('type')).to.equal('password');
    await page.getByRole('button', { name: 'Show' }).click();
    expect(await input.getAttribute('type')).to.equal('text');
  });

  it('marks the field that the server rejected, until the user corrects it', async () => {
    const { page } = await openForm('stripe');
    await page.getByRole('button', { name: 'Connect', exact: true }).click();
    expect(await problem(page).innerText()).to.equal('Secret or restricted key is required.');
    await page.getByLabel('Secret or restricted key').fill('sk_test_0123456789');
    await page.keyboard.press('Tab');
    await problem(page).waitFor({ state: 'detached' });
  });

  it('offers regions by their names', async () => {
    const { page } = await openForm('sendgrid');
    const choices = await page.getByLabel('Region').locator('option').allInnerTexts();
    expect(choices).to.deep.equal(['Choose', 'Global', 'Europe (EU subusers)']);
  });
});
