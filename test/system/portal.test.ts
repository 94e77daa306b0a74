import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import { execute } from '../support/execute.ts';
import { allowVerifyUrls } from '../support/links.ts';
import { ADA } from '../support/mcp-login.ts';
import { type PortalWorld, startPortalWorld } from '../support/portal.ts';
import { API_KEY_PATTERN, createConnection, createProvider } from '../support/providers.ts';
import { focused, launch, openPage, startVerifyingApp, violations } from './support/connect-browser.ts';

const WIDTHS = [320, 768, 1440];
const LANGUAGES = ['en', 'de', 'ja', 'ar'];

describe('the portal in a browser', () => {
  let world: PortalWorld;
  let app: Awaited<ReturnType<typeof startVerifyingApp>>;
  let browser: Browser;
  /** The user of the session at the application. */
  let loggedIn = '';

  before(async () => {
    world = await startPortalWorld();
    app = await startVerifyingApp(
      () => world.server,
      () => loggedIn,
    );
    await allowVerifyUrls(world.server, app.url);
    const brand = { application_name: 'Contoso Assistant', accent_color: '#0b6e4f' };
    await world.server.call('PUT', '/api/v1/environment', { body: brand });
    browser = await launch({});
  });
  after(async () => {
    await browser?.close();
    app?.stop();
    await world?.stop();
  });
  afterEach(() => Promise.all(browser.contexts().map((context) => context.close())));

  /** Creates a session for Ada with an account, an agent and a call. @returns its URL */
  async function fill(body: Record<string, unknown> = {}): Promise<string> {
    const url = await sessionUrl(body);
    const { id } = await world.account({}, { display_name: 'Acme Notes' });
    await execute(world.server, id, 'http_get', { path: '/notes' });
    await world.tokens();
    return url;
  }

  async function sessionUrl(body: Record<string, unknown> = {}): Promise<string> {
    return (await world.session({ user_verify_url: app.url, ...body })).body.url;
  }

  for (const javaScriptEnabled of [true, false]) {
    it(`connects, disconnects and revokes, ${javaScriptEnabled ? 'with' : 'without'} JavaScript`, async () => {
      const provider = await createProvider(world.server, {
        display_name: 'Acme Desk',
        auth_patterns: [API_KEY_PATTERN],
      });
      await createConnection(world.server, { connector: provider.identifier });
      const user = { user_id: `user_${javaScriptEnabled}`, identifier: `${javaScriptEnabled}@acme.test` };
      await world.tokens({}, { ...ADA, ...user });
      const { page, complaints, hosts } = await openPage(browser, { javaScriptEnabled });
      loggedIn = user.identifier;
      await page.goto(await sessionUrl(user));
      await page
        .getByRole('listitem')
        .filter({ hasText: 'Acme Desk' })
        .getByRole('button', { name: 'Connect' })
        .first()
        .click();
      await page.getByLabel('API key').fill('typed-key-0123456789');
      await page.getByRole('button', { name: 'Connect' }).click();
      await page.getByRole('status').filter({ hasText: 'The account is connected.' }).waitFor();
      const card = page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: /Acme Desk/ }) });
      expect(await card.innerText()).to.include('Connected');
      // The details element opens without a script, too.
      await card.getByText('Disconnect', { exact: true }).first().click();
      await card.getByRole('button', { name: 'Disconnect' }).click();
      await page.getByRole('status').filter({ hasText: 'The account is disconnected.' }).waitFor();
      await page.getByText('Revoke access', { exact: true }).first().click();
      await page.getByRole('button', { name: 'Revoke access' }).click();
      await page.getByRole('status').filter({ hasText: 'The access is revoked.' }).waitFor();
      expect(complaints).to.deep.equal([]);
      expect(hosts()).to.have.members([new URL(world.server.origin).host, new URL(app.url).host]);
    });
  }

  it('is used with the keyboard alone', async () => {
    const { id } = await world.account({ user_id: 'user_keys', identifier: 'keys@acme.test' });
    const { page } = await openPage(browser);
    await page.goto(await sessionUrl({ user_id: 'user_keys', identifier: 'keys@acme.test' }));
    const pressed: string[] = [];
    for (let i = 0; i < 12 && !pressed.at(-1)?.startsWith('Disconnect'); i++) {
      await page.keyboard.press('Tab');
      pressed.push(String(await page.evaluate('document.activeElement.innerText')));
    }
    expect(pressed).to.deep.equal(['Log out', 'What it may do', 'Reconnect', 'Disconnect']);
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByRole('status').waitFor();
    const details = await world.server.call('GET', `/api/v1/connected_accounts/details?id=${id}`);
    expect(details.body.connected_account.status).to.equal('DISCONNECTED');
    expect(await focused(page)).to.equal('');
  });

  it('tells a screen reader which account a button belongs to', async () => {
    const { page } = await openPage(browser);
    await page.goto(await fill());
    const tree = await page.locator('main').ariaSnapshot();
    for (const line of [
      'heading "Your connections" [level=1]',
      'region "Connected accounts"',
      'heading /Acme Notes/ [level=3]',
      'region "Agents with access"',
      'region "Recent calls"',
    ]) {
      expect(tree.replaceAll(/heading "Acme Notes[^"]*"/g, 'heading /Acme Notes/')).to.include(line);
    }
    const described = await page.getByRole('button', { name: 'Reconnect' }).first().getAttribute('aria-describedby');
    expect(await page.locator(`#${described}`).innerText()).to.include('Acme Notes');
  });

  for (const language of LANGUAGES) {
    for (const colorScheme of ['light', 'dark'] as const) {
      it(`breaks no rule of axe-core and fits every width: ${language}, ${colorScheme}`, async () => {
        const { page } = await openPage(browser, { colorScheme });
        await page.goto(await fill({ language }));
        for (const width of WIDTHS) {
          await page.setViewportSize({ width, height: 900 });
          expect(await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth'), `${width}`).to.equal(
            true,
          );
        }
        expect(await violations(page)).to.deep.equal([]);
        await page.evaluate('document.querySelectorAll("details").forEach((one) => { one.open = true; })');
        expect(await violations(page), 'with everything opened').to.deep.equal([]);
      });
    }
  }

  it('breaks no rule after the session has ended', async () => {
    const { page } = await openPage(browser);
    await page.goto(`${world.server.origin}/portal`);
    expect(await page.getByRole('heading', { level: 1 }).innerText()).to.equal('This session has ended');
    expect(await violations(page)).to.deep.equal([]);
  });
});
