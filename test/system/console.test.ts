import { expect } from 'chai';
import { createAccount } from '../support/accounts.ts';
import { violations } from './support/connect-browser.ts';
import { addCalls, addNotes, fillConsole } from './support/console-data.ts';
import { type ConsoleWorld, startConsoleWorld } from './support/console-world.ts';

const PAGES = [
  '/',
  '/accounts',
  '/connections',
  '/tools',
  '/executions',
  '/mcp',
  '/webhooks',
  '/audit',
  '/import',
  '/settings',
];

describe('the console in a browser', () => {
  let world: ConsoleWorld;

  before(async () => {
    world = await startConsoleWorld();
  });
  after(() => world.stop());

  it('leads a new user from the one-time address to a connected account and a tool call', async () => {
    const { page, complaints, hosts } = await world.logIn();
    const { server, upstream } = world;
    const pattern = { field_name: 'api_key', label: 'API key', input_type: 'password', required: true };
    const provider = {
      display_name: 'Acme Desk',
      proxy_enabled: true,
      proxy_url: `http://127.0.0.1:${upstream.port}`,
      auth_patterns: [{ type: 'API_KEY', display_name: 'API key', fields: [pattern] }],
    };
    await server.call('POST', '/api/v1/custom-providers', { body: provider });

    await page.getByRole('link', { name: 'Set up', exact: true }).click();
    await page.getByLabel('Search').fill('Acme Desk');
    await page.getByRole('link', { name: /Acme Desk/ }).click();
    await page.getByRole('button', { name: 'Choose' }).click();
    await page.getByText('Users can connect their accounts.').waitFor();
    await page.getByRole('link', { name: 'Connect an account' }).click();
    await page.getByRole('button', { name: 'Connect here' }).click();
    await page.getByLabel('API key').fill('secret-key-of-the-test');
    await page.getByRole('button', { name: /Connect|Save|Continue/ }).click();
    await page.getByRole('heading', { level: 1, name: 'ada@acme.example' }).waitFor();
    await page.getByText('Agents can call tools with this account.').waitFor();

    const { connected_accounts: accounts } = (await server.call('GET', '/api/v1/connected_accounts')).body;
    expect(accounts[0]).to.include({ identifier: 'ada@acme.example', status: 'ACTIVE' });
    await page.goto(`${server.origin}/console/tools/http_get?account=${accounts[0].id}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    expect(hosts()).to.deep.equal([new URL(server.origin).host]);
    // A new environment keeps no events, so there is no stream of them yet.
    expect(complaints.filter((text) => !text.includes('409'))).to.deep.equal([]);
    await page.context().close();
  });

  it('runs a tool with an account, and shows its request in a dry run without the secret', async () => {
    await world.server.call('PUT', '/api/v1/environment', { body: { keep_events: true } });
    const accountId = await addNotes(world);
    const { page, go, complaints } = await world.logIn();
    await go(`/tools/acme_notes_get_note?account=${accountId}`);
    await page.getByLabel('number').fill('7');
    await page.getByRole('button', { name: 'Dry run' }).click();
    const request = page.getByRole('region', { name: 'Request' });
    expect(await request.innerText()).to.include('/notes/7');
    expect(await request.innerText()).not.to.include('secret-key-of-ada');
    expect(world.upstream.requests).to.have.length(0);
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    expect(await page.getByRole('region', { name: 'Result' }).last().innerText()).to.include('/notes/7');
    expect(world.upstream.requests).to.have.length(1);
    for (const name of ['TypeScript', 'Python', 'MCP', 'curl']) {
      await page.getByRole('tab', { name, exact: true }).click();
      expect(await page.getByRole('region', { name: `the call as ${name}` }).innerText()).to.include(
        'acme_notes_get_note',
      );
    }
    await page.getByRole('link', { name: 'Execution', exact: true }).click();
    await page.getByText('Succeeded').first().waitFor();
    expect(complaints).to.deep.equal([]);
    await page.context().close();
  });

  it('is used with the keyboard alone: login, palette, list and row', async () => {
    await createAccount(world.server, { identifier: 'keyboard@acme.example' });
    const { page } = await world.logIn();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Search' }).waitFor();
    await page.keyboard.type('acco');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Accounts' }).waitFor();
    await page.getByRole('link', { name: 'keyboard@acme.example' }).waitFor();
    for (let presses = 0; presses < 40; presses++) {
      await page.keyboard.press('Tab');
      if ((await page.evaluate('document.activeElement.getAttribute("role")')) === 'row') break;
    }
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 2, name: 'Timeline' }).waitFor();
    await page.context().close();
  });

  it('shows changes without reloading, if the environment keeps its events', async () => {
    await world.server.call('PUT', '/api/v1/environment', { body: { keep_events: true } });
    const { page, go } = await world.logIn();
    await go('/accounts');
    await page.getByText('Live', { exact: true }).waitFor();
    await createAccount(world.server, { identifier: 'live@acme.example' });
    await page.getByRole('link', { name: 'live@acme.example' }).waitFor({ timeout: 15_000 });
    await page.context().close();
  });

  it('ends in every tab when the operator logs out', async () => {
    const { page } = await world.logIn();
    const other = await page.context().newPage();
    await other.goto(`${world.server.origin}/console/executions`);
    await other.getByRole('heading', { level: 1, name: 'Executions' }).waitFor();
    await page.getByRole('button', { name: 'Log out' }).click();
    for (const each of [page, other]) await each.getByText('Log in with a one-time address.').waitFor();
    expect(await page.context().cookies()).to.deep.equal([]);
    await page.context().close();
  });

  it('shows a viewer no control that their role forbids', async () => {
    const { page, go } = await world.logIn({ role: 'VIEWER' });
    await go('/settings');
    await page.getByText(/Only operators with the role owner/).waitFor();
    await go('/accounts');
    expect(await page.getByRole('button', { name: 'Connect an account' }).count()).to.equal(0);
    await page.context().close();
  });

  it('scrolls a list of many executions, of which only some are in the document', async () => {
    const many = await startConsoleWorld();
    await many.server.call('PUT', '/api/v1/environment', { body: { keep_events: true } });
    const { id } = await createAccount(many.server);
    await addCalls(many.server, id, 1200);
    const { page, go, complaints } = await many.logIn();
    await go('/executions');
    const list = page.getByRole('region', { name: 'Executions, scrollable' });
    await list.waitFor();
    await page.getByText('1,200 entries').waitFor();
    const scroll = `new Promise((resolve) => {
      const list = document.querySelector('.list');
      list.scrollTop = list.scrollHeight;
      requestAnimationFrame(() => resolve(list.scrollHeight));
    })`;
    let height = 0;
    for (let frames = 0; frames < 5000 && height < 1200 * 44; frames++)
      height = (await page.evaluate(scroll)) as number;
    expect(height).to.be.at.least(1200 * 44);
    expect(await page.getByRole('row').count()).to.be.lessThan(80);
    expect(complaints).to.deep.equal([]);
    await page.context().close();
    await many.stop();
  });

  describe('with a day of data', () => {
    let full: ConsoleWorld;
    let details: string[];

    before(async () => {
      full = await startConsoleWorld();
      const { accountId, executionId } = await fillConsole(full);
      details = [`/accounts/${accountId}`, `/executions/${executionId}`, '/connections/new', '/tools/http_post'];
    });
    after(() => full.stop());

    for (const [width, colorScheme] of [
      [320, 'light'],
      [768, 'light'],
      [1440, 'light'],
      [1440, 'dark'],
    ] as const) {
      it(`has no violation that axe finds, and fits the page, ${width} px wide, ${colorScheme}`, async () => {
        const options = { viewport: { width, height: 900 }, colorScheme, reducedMotion: 'reduce' } as const;
        const { page, go, complaints } = await full.logIn(options);
        for (const path of [...PAGES, ...details]) {
          await go(path);
          await page.getByText('Loading').first().waitFor({ state: 'detached' });
          expect(await violations(page), path).to.deep.equal([]);
          expect(await page.evaluate('document.documentElement.scrollWidth'), path).to.be.at.most(width);
        }
        expect(complaints).to.deep.equal([]);
        await page.context().close();
      });
    }
  });
});
