import { expect } from 'chai';
import type { Browser, Locator, Page } from 'playwright-core';
import { type LoginWorld, startLoginWorld } from '../support/mcp-login.ts';
import { offer } from '../support/operators.ts';
import { json, startUpstream, type Upstream } from '../support/upstream.ts';
import { launch, openPage } from './support/connect-browser.ts';
import { addNotes } from './support/console-data.ts';
import { CONSOLE_PAGES } from './support/console-pages.ts';

/** More steps than any page of these tests has between two elements. */
const MOST_STEPS = 120;

type Role = Parameters<Page['getByRole']>[0];

/**
 * Moves the focus with the keyboard alone to the element with a role and a name, which is in the tree of screen
 * readers.
 */
async function tabTo(page: Page, role: Role, name: string | RegExp, key = 'Tab'): Promise<Locator> {
  const target = page.getByRole(role, { name, exact: true }).first();
  await target.waitFor();
  for (let step = 0; step < MOST_STEPS; step++) {
    if ((await target.and(page.locator(':focus')).count()) === 1) return target;
    await page.keyboard.press(key);
  }
  throw new Error(`the keyboard does not reach the ${role} ${name}; the focus is on ${await focusOf(page)}`);
}

async function press(page: Page, role: Role, name: string | RegExp): Promise<void> {
  await tabTo(page, role, name);
  const outline = await page.evaluate('getComputedStyle(document.activeElement).outlineStyle');
  expect(outline, `the outline of ${name}`).not.to.equal('none');
  await page.keyboard.press('Enter');
}

async function type(page: Page, name: string, text: string): Promise<void> {
  await tabTo(page, 'textbox', name);
  await page.keyboard.press('Control+a');
  await page.keyboard.type(text);
}

async function focusOf(page: Page): Promise<string> {
  return (await page.evaluate('document.activeElement.outerHTML.slice(0, 200)')) as string;
}

const heading = (page: Page, name: string | RegExp) => page.getByRole('heading', { level: 1, name }).waitFor();

describe('the console with the keyboard alone', () => {
  let world: LoginWorld;
  let upstream: Upstream;
  let browser: Browser;

  before(async () => {
    upstream = await startUpstream(({ target }, res) => json(res, 200, { path: target, name: 'A note' }));
    world = await startLoginWorld({
      env: { VALETKEY_EGRESS_ALLOW: `127.0.0.1:${upstream.port}` },
      overrides: { now: Date.now },
    });
    browser = await launch({});
  });
  after(async () => {
    await browser?.close();
    await world?.stop();
    await upstream?.stop();
  });

  /** Logs in with the keyboard: the button has the focus. */
  async function logIn(path = '/'): Promise<Page> {
    const { token } = await offer(world.server, 'ada@acme.example', 'OWNER');
    const { page } = await openPage(browser);
    await page.goto(`${world.server.origin}/console/login?next=${encodeURIComponent(path)}#${token}`);
    await press(page, 'button', 'Log in');
    return page;
  }

  it('logs in, and skips the navigation', async () => {
    const page = await logIn();
    await heading(page, 'Home');
    await press(page, 'link', 'Skip to content');
    expect(await page.evaluate('document.activeElement.id')).to.equal('main');
    await page.context().close();
  });

  it('connects an account, from the list of accounts through the page of the link and back', async () => {
    await addNotes({ server: world.server, upstream }, 'Acme Keys');
    const page = await logIn('/accounts');
    await heading(page, 'Accounts');
    await press(page, 'button', 'Connect an account');
    await tabTo(page, 'combobox', 'Connection');
    await page.keyboard.type('acme-keys');
    await type(page, 'Identifier', 'by-keyboard@acme.example');
    await press(page, 'button', 'Connect here');
    await heading(page, /Acme Keys/);
    await tabTo(page, 'textbox', 'API key');
    await page.keyboard.type('secret-key-of-the-keyboard');
    await press(page, 'button', 'Connect');
    await heading(page, 'by-keyboard@acme.example');
    await page.context().close();
  });

  it('calls a tool, and reads its result', async () => {
    const accountId = await addNotes({ server: world.server, upstream }, 'Acme Calls');
    const page = await logIn(`/tools/acme_calls_get_note?account=${accountId}`);
    await heading(page, 'Get a note');
    await tabTo(page, 'spinbutton', 'number*');
    await page.keyboard.press('Control+a');
    await page.keyboard.type('7');
    await press(page, 'button', 'Run');
    const result = page.getByRole('region', { name: 'Result', exact: true });
    await result.getByText('/notes/7').waitFor();
    await tabTo(page, 'region', 'Result');
    // The arrow keys select a tab.
    await tabTo(page, 'tab', 'curl');
    await page.keyboard.press('ArrowRight');
    expect(await tabTo(page, 'tab', 'TypeScript').then((tab) => tab.getAttribute('aria-selected'))).to.equal('true');
    await page.context().close();
  });

  it('adds an endpoint for webhooks, and deletes it after a question', async () => {
    const page = await logIn('/webhooks');
    await heading(page, 'Webhooks');
    await type(page, 'Address', 'https://app.acme.example/keyboard');
    await press(page, 'button', 'Add the endpoint');
    await page
      .getByText(/shown once|once/)
      .first()
      .waitFor();
    await press(page, 'link', 'https://app.acme.example/keyboard');
    await heading(page, 'https://app.acme.example/keyboard');
    await press(page, 'button', 'Delete …');
    const dialog = page.getByRole('dialog', { name: 'Delete this endpoint?' });
    await dialog.waitFor();
    await page.keyboard.press('Escape');
    // A closed dialog cannot be found by its role, but stays in the page until its close event is handled.
    await page.locator('dialog').waitFor({ state: 'detached' });
    expect(await focusOf(page), 'the focus returns').to.include('Delete …');
    await page.keyboard.press('Enter');
    await dialog.waitFor();
    await press(page, 'button', 'Delete');
    await heading(page, 'Webhooks');
    await page.context().close();
  });

  it('revokes the access of an MCP client', async () => {
    await world.tokens();
    const page = await logIn('/mcp');
    await heading(page, 'MCP');
    await page.getByRole('cell', { name: 'ada@acme.test' }).waitFor();
    await press(page, 'button', 'Revoke');
    await page.getByText('No user has logged in with an MCP client yet.').waitFor();
    expect(await world.grants()).to.deep.equal([]);
    const focused = page.locator(':focus');
    expect(await focused.innerText(), 'the focus after the button is gone').to.equal('Who is logged in');
    expect(await focused.evaluate('document.activeElement.tagName')).to.equal('H2');
    await page.context().close();
  });

  it('goes back from a page to its list, and the link is the first thing in the page', async () => {
    const page = await logIn('/tools/github_create_issue');
    await page.getByRole('heading', { level: 1 }).waitFor();
    await press(page, 'link', 'Skip to content');
    await page.keyboard.press('Tab');
    expect(await focusOf(page)).to.include('All tools');
    await page.keyboard.press('Enter');
    await heading(page, 'Tools');
    await page.context().close();
  });

  it('has a name for everything that can be operated, on every page', async () => {
    const page = await logIn();
    await heading(page, 'Home');
    const nameless = /^\s*- (button|link|textbox|combobox|checkbox|tab|spinbutton|searchbox|region)(:| \[|$)/gm;
    for (const path of [...CONSOLE_PAGES, '/connections/new', '/tools/github_create_issue']) {
      await page.goto(`${world.server.origin}/console${path}`);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.getByText('Loading').first().waitFor({ state: 'detached' });
      const tree = await page.locator('body').ariaSnapshot();
      expect(tree.match(nameless) ?? [], path).to.deep.equal([]);
    }
    // Control: a button without a name would be found.
    await page.evaluate("document.querySelector('main').append(document.createElement('button'))");
    expect(await page.locator('body').ariaSnapshot()).to.match(nameless);
    await page.context().close();
  });
});
