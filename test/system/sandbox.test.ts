import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { type RunningProcess, startProcess } from '../../scripts/demo/process.ts';
import { ROOT } from '../flows/markdown.ts';
import { DESK, launch, openPage, PHONE, violations } from './support/connect-browser.ts';

describe('the sandbox in a browser', () => {
  let sandbox: RunningProcess;
  let browser: Browser;
  let app: string;

  before(async () => {
    const ready = /^The application +(\S+)[\s\S]*Ctrl-C ends it all/m;
    const options = { cwd: ROOT, env: { SANDBOX_PORT: '0' } };
    const started = await startProcess(process.execPath, ['scripts/sandbox.ts'], ready, options);
    sandbox = started.process;
    app = started.match[1] as string;
    browser = await launch({});
  });
  after(async () => {
    await browser?.close();
    await sandbox?.stop();
  });
  afterEach(() => Promise.all(browser.contexts().map((context) => context.close())));

  async function logIn(user: string, options = {}) {
    const watched = await openPage(browser, { viewport: DESK, ...options });
    await watched.page.goto(app);
    await watched.page.getByLabel('User name').fill(user);
    await watched.page.getByRole('button', { name: 'Log in' }).click();
    await watched.page.getByRole('heading', { name: 'Connections' }).waitFor();
    // The page opens links in a popup only after its script has run.
    await watched.page.waitForLoadState('load');
    return watched;
  }

  const state = (page: Page, title: string) => page.locator('.connections li', { hasText: title }).locator('.state');
  const ask = (page: Page, question: string) => page.getByRole('button', { name: question }).click();
  const steps = (page: Page) =>
    page.locator('.transcript li').evaluateAll((items) => items.map((item) => item.className));

  async function connectAcme(page: Page, button: string): Promise<void> {
    const [popup] = await Promise.all([
      page.waitForEvent('popup'),
      page.getByRole('button', { name: button, exact: true }).first().click(),
    ]);
    await popup.getByRole('button', { name: 'Continue to Acme Files' }).click();
    await popup.getByLabel('User name').fill('alice');
    await Promise.all([popup.waitForEvent('close'), popup.getByRole('button', { name: 'Allow' }).click()]);
  }

  it('leads from a question to a connected account, and a tool call, without leaving the page', async () => {
    const { page, complaints } = await logIn('ada');
    await ask(page, 'Which files do I have?');
    await page.locator('.transcript .failed').waitFor();
    expect(await steps(page)).to.deep.equal(['question', 'thought', 'call', 'failed']);
    await connectAcme(page, 'Connect Acme Files');
    await state(page, 'Acme Files')
      .filter({ hasText: /^Connected$/ })
      .waitFor();
    await ask(page, 'Which files do I have?');
    await page.locator('.transcript .answer').waitFor();
    expect(await page.locator('.transcript .answer').innerText()).to.equal(
      'As alice, you have 2 files in Acme Files: plans.txt and punched-cards.csv.',
    );
    expect(await steps(page)).to.deep.equal(['question', 'thought', 'call', 'result', 'answer']);
    expect(page.url(), 'the page was never left').to.equal(`${app}/`);
    expect(complaints).to.deep.equal([]);
  });

  it('calls tools of two applications with a key that was typed in the popup', async () => {
    const { page } = await logIn('grace');
    await connectAcme(page, 'Connect Acme Files');
    await state(page, 'Acme Files')
      .filter({ hasText: /^Connected$/ })
      .waitFor();
    const [popup] = await Promise.all([
      page.waitForEvent('popup'),
      page.getByRole('button', { name: 'Connect Notes' }).click(),
    ]);
    await popup.getByLabel('API key').fill(/right one is (\S+)/.exec(sandbox.stdout)?.[1] ?? '');
    await popup.getByRole('button', { name: 'Connect', exact: true }).click();
    await state(page, 'Notes')
      .filter({ hasText: /^Connected$/ })
      .waitFor();
    await ask(page, 'Write a note about my files.');
    await page.locator('.transcript .answer').waitFor();
    expect(await page.locator('.transcript .answer').innerText()).to.match(
      /^Done\. “Files: plans\.txt, punched-cards\.csv”/,
    );
  });

  it('shows the lines of its source beside each step', async () => {
    const { page } = await logIn('lin');
    await ask(page, 'What do my notes say?');
    await page.locator('.transcript .failed').waitFor();
    const open = page.locator('details[open]');
    expect(await open.locator('summary').innerText()).to.match(
      /^The loop of the agent examples\/assistant\/agent\.ts:\d+$/,
    );
    expect(await open.locator('code').innerText()).to.include('export async function* runAgent(');
  });

  it('reports that the user has closed the popup', async () => {
    const { page } = await logIn('tim');
    const [popup] = await Promise.all([
      page.waitForEvent('popup'),
      page.getByRole('button', { name: 'Connect Notes' }).click(),
    ]);
    await popup.getByRole('heading', { name: 'Connect Notes' }).waitFor();
    await popup.close();
    expect(await page.getByRole('alert').innerText()).to.equal('The window was closed.');
    // The page reads the states again after it has shown the message.
    await state(page, 'Notes')
      .filter({ hasText: /^Not finished$/ })
      .waitFor();
  });

  it('leads to the portal of the user and to the console, on the same data', async () => {
    const { page } = await logIn('ada');
    await page.getByRole('button', { name: 'Manage' }).click();
    await page.getByRole('heading', { name: 'Your connections' }).waitFor();
    expect(await page.locator('.card', { hasText: 'Acme Files' }).locator('.state').innerText()).to.include(
      'Connected',
    );
    await page.goto(app);
    const [operator] = await Promise.all([
      page.waitForEvent('popup'),
      page.getByRole('button', { name: 'Open the console' }).click(),
    ]);
    await operator.getByRole('button', { name: /log in/i }).click();
    await operator.getByRole('link', { name: 'Accounts' }).first().click();
    await operator.getByText('acme').first().waitFor();
  });

  it('works without a script', async () => {
    const { page } = await logIn('joan', { javaScriptEnabled: false });
    await page.getByRole('button', { name: 'Connect Acme Files' }).click();
    await page.getByRole('button', { name: 'Continue to Acme Files' }).click();
    await page.getByLabel('User name').fill('joan');
    await page.getByRole('button', { name: 'Allow' }).click();
    await page.getByRole('heading', { name: 'Connected' }).waitFor();
    await page.goto(app);
    await ask(page, 'Which files do I have?');
    expect(await page.locator('.transcript .answer').innerText()).to.include('As joan');
  });

  for (const colorScheme of ['light', 'dark'] as const) {
    it(`breaks no rule of axe-core and fits a phone, ${colorScheme}`, async () => {
      for (const viewport of [PHONE, DESK]) {
        const { page } = await logIn('ada', { viewport, colorScheme });
        await ask(page, 'Which files do I have?');
        await page.locator('.transcript .answer').waitFor();
        expect(await violations(page)).to.deep.equal([]);
        expect(await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth')).to.equal(true);
        await page.context().close();
      }
    });
  }
});
