import { expect } from 'chai';
import { createAccount } from '../support/accounts.ts';
import { createMcpProvider } from '../support/mcp-provider.ts';
import { createConnection } from '../support/providers.ts';
import { setOverlay } from '../support/tool-overlays.ts';
import { violations } from './support/connect-browser.ts';
import { type ConsoleWorld, startConsoleWorld } from './support/console-world.ts';

/** Too narrow for the columns of the list of accounts, but wider than a phone. */
const NARROW = { width: 640, height: 900 };

/** By how much a list or a table can be scrolled sideways. */
const HIDDEN_PX = `Math.max(...[...document.querySelectorAll('.list')].map((list) => list.scrollWidth - list.clientWidth))`;

describe('states of the console’s pages', () => {
  let world: ConsoleWorld;

  before(async () => {
    world = await startConsoleWorld();
  });
  after(() => world.stop());

  it('shows on Home how many tokens were refreshed in the last 24 hours, and why refreshes failed', async () => {
    const { page } = await world.logIn();
    const card = page.locator('section', {
      has: page.getByRole('heading', { name: 'Token refreshes, last 24 hours' }),
    });
    await card.getByText('No token has been refreshed').waitFor();
    const { server } = world;
    const { id } = await server.parts.environmentOf('127.0.0.1');
    const refresh = { hour: Math.floor(server.parts.now() / 3_600_000), connector: 'github' };
    await server.parts.store.write(async (tx) => {
      const { refreshStatistics: counts } = tx;
      for (let n = 0; n < 1240; n++) await counts.count(id, { ...refresh, outcome: 'SUCCEEDED', errorKind: '' });
      for (let n = 0; n < 2; n++) await counts.count(id, { ...refresh, outcome: 'EXPIRED', errorKind: '' });
      await counts.count(id, { ...refresh, outcome: 'FAILED', errorKind: 'upstream_timeout' });
    });
    // The page requests the statistics again by itself, without being reloaded.
    await card.getByText('1,243').waitFor();
    const rows = await card.locator('dl > div, li').allInnerTexts();
    expect(rows.map((row) => row.split(/\s*\n\s*/).join(' '))).to.deep.equal([
      'Refreshes 1,243',
      'Succeeded 1,240',
      'Account expired 2',
      'Failed for now 1',
      'Timed out 1',
    ]);
    expect(await violations(page)).to.deep.equal([]);
    for (const colorScheme of ['light', 'dark'] as const)
      for (const width of [320, 768, 1440]) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width, height: 900 });
        expect(await violations(page), `${colorScheme} ${width}`).to.deep.equal([]);
      }
    await card.getByRole('link', { name: 'Expired accounts' }).click();
    await page.waitForURL(/accounts\?status=EXPIRED/);
    await page.context().close();
  });

  it('leads from a tool that an overlay has renamed or hidden to its new name and to the overlay', async () => {
    await setOverlay(world.server, 'github_list_issues', { new_name: 'list_bugs' });
    await setOverlay(world.server, 'github_get_issue', { hidden: true });
    const { page, go } = await world.logIn();
    await go('/tools/github_get_issue');
    await page.getByRole('heading', { name: 'An overlay hides this tool' }).waitFor();
    expect(await page.getByRole('link', { name: 'Open the overlay' }).getAttribute('href')).to.match(
      /\/overlays\/github_get_issue$/,
    );
    await go('/tools/github_list_issues?account=ca_1');
    await page.getByRole('link', { name: 'Open list_bugs' }).click();
    await page.getByRole('heading', { level: 2, name: 'Try it' }).waitFor();
    expect(new URL(page.url()).pathname + new URL(page.url()).search).to.equal('/console/tools/list_bugs?account=ca_1');
    await go('/tools/no_such_tool');
    await page.getByRole('heading', { name: 'There is no tool with this name' }).waitFor();
    expect(await violations(page)).to.deep.equal([]);
    await page.context().close();
  });

  it('says in its own words that nothing is at an address, and leads to the list', async () => {
    const { page, go } = await world.logIn();
    for (const [path, list] of [
      ['/accounts/nonsense', 'All accounts'],
      ['/accounts/ca_01k6p4a2b3c4d5e6f7g8h9j0km', 'All accounts'],
      ['/connections/nonsense', 'All connections'],
      ['/executions/nonsense', 'All executions'],
      ['/webhooks/nonsense', 'All endpoints'],
    ] as const) {
      await go(path);
      await page.getByRole('heading', { name: 'Nothing is at this address' }).waitFor();
      expect(await page.locator('main').innerText(), path).not.to.match(/pattern|must match|Reference/);
      await page.locator('main').getByRole('link', { name: list }).last().click();
      await page.getByRole('heading', { level: 1 }).waitFor();
    }
    await page.context().close();
  });

  it('tells a viewer before each form what their role cannot do', async () => {
    const { id } = await createConnection(world.server, { connector: 'slack' });
    const { page, go } = await world.logIn({ role: 'VIEWER' });
    await go('/import');
    await page.getByText('Your role cannot import tools.').waitFor();
    expect(await page.locator('main form').count()).to.equal(0);
    await go('/tools/github_create_issue');
    await page.getByText('Your role cannot run tools.').waitFor();
    await go('/connections/new?provider=github');
    await page.getByText('Your role cannot set up connections.').waitFor();
    expect(
      await page
        .getByRole('button', { name: /^Choose/ })
        .first()
        .isDisabled(),
    ).to.equal(true);
    await go(`/connections/${id}`);
    await page.getByText('Your role cannot change connections.').first().waitFor();
    expect(await page.getByLabel('Client id').isDisabled()).to.equal(true);
    expect(await page.getByLabel('Send the trace of each call').isDisabled()).to.equal(true);
    await go('/overlays/github_create_issue');
    const note = await page.getByText('Your role cannot change overlays.').boundingBox();
    const form = await page.getByLabel('Title', { exact: true }).boundingBox();
    expect(note?.y).to.be.below(form?.y as number);
    await go('/');
    await page.getByText('Next steps').waitFor();
    expect(await page.getByRole('link', { name: 'Set up', exact: true }).count()).to.equal(0);
    await page.context().close();
  });

  it('shows and changes whether a connection sends the trace, and how long it waits for an MCP server', async () => {
    const { server, upstream } = world;
    const mcp = await createMcpProvider(server, `http://127.0.0.1:${upstream.port}/mcp`);
    const read = async (id: string) => (await server.call('GET', `/api/v1/connections/${id}`)).body.connection;
    const { page, go } = await world.logIn();
    await go(`/connections/${mcp.connectionId}`);
    const card = page.locator('section', { hasText: 'Requests to the provider' });
    await card.getByLabel('Send the trace of each call').check();
    await card.getByLabel('Seconds to wait for the MCP server').fill('120');
    const saved = page.waitForResponse((response) => response.request().method() === 'PUT');
    await card.getByRole('button', { name: 'Save' }).click();
    await saved;
    expect(await read(mcp.connectionId)).to.include({ send_trace_context: true, mcp_timeout_seconds: 120 });
    await page.reload();
    await card.getByLabel('Seconds to wait for the MCP server').waitFor();
    expect(await card.getByLabel('Send the trace of each call').isChecked()).to.equal(true);
    expect(await card.getByLabel('Seconds to wait for the MCP server').inputValue()).to.equal('120');

    const other = await createConnection(server, { connector: 'notion', key_id: 'traced' });
    await go(`/connections/${other.id}`);
    await card.getByLabel('Send the trace of each call').waitFor();
    await page.waitForLoadState('networkidle');
    expect(await card.getByLabel('Seconds to wait for the MCP server').count()).to.equal(0);

    await go('/mcp');
    await page.getByRole('checkbox', { name: 'traced' }).check();
    await page.getByRole('checkbox', { name: mcp.identifier, exact: true }).check();
    await page.getByRole('checkbox', { name: `Resources of ${mcp.identifier}` }).waitFor();
    expect(await page.getByRole('checkbox', { name: 'Resources of traced' }).count()).to.equal(0);
    await page.context().close();
  });

  it('shows the titles of audit entries, filters by one, and has the color of the brand only if it is used', async () => {
    const { page, go } = await world.logIn();
    await go('/audit');
    await page.getByRole('link', { name: 'Operator session opened' }).first().click();
    await page.getByRole('link', { name: 'Connection created' }).first().waitFor({ state: 'detached' });
    expect(new URL(page.url()).searchParams.get('action')).to.equal('operator_session.opened');
    await go('/settings');
    expect(await page.getByLabel('Color', { exact: true }).isDisabled()).to.equal(true);
    await page.getByLabel('Use your own color for buttons and links').check();
    await page.getByLabel('Color', { exact: true }).fill('#aa0033');
    const saved = page.waitForResponse((response) => response.request().method() === 'PUT');
    await page.getByRole('button', { name: 'Save the brand' }).click();
    expect((await (await saved).json()).environment.accent_color).to.equal('#aa0033');
    await page.context().close();
  });

  it('shows audit entries, the timeline of an account and addresses of webhooks as a whole on every width', async () => {
    for (const connector of ['notion', 'linear'])
      await createConnection(world.server, { connector, key_id: `${connector}-of-the-audited-environment` });
    const account = await createAccount(world.server);
    const url = 'https://hooks.of-the-audited-environment.acme.example/incoming/events/of/valetkey';
    await world.server.call('POST', '/api/v1/webhook_endpoints', { body: { url, description: '' } });
    const { page, go } = await world.logIn();
    const cut = `[...document.querySelectorAll('.list .rows .row > div:not(:empty)')]
      .filter((cell) => cell.scrollWidth > cell.clientWidth + 1 || cell.scrollHeight > cell.clientHeight + 1)
      .map((cell) => cell.textContent)`;
    for (const path of ['/audit', `/accounts/${account.id}`, '/webhooks']) {
      await go(path);
      for (const width of [320, 768, 1024, 1440]) {
        await page.setViewportSize({ width, height: 900 });
        await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
        await page.locator('.rows .row').first().waitFor();
        expect(await page.evaluate(cut), `${path} ${width}`).to.deep.equal([]);
      }
    }
    await page.context().close();
  });

  it('says that a delivery is retried, and when it was last attempted', async () => {
    const hook = { url: 'https://hooks.acme.example/in', description: '' };
    const made = await world.server.call('POST', '/api/v1/webhook_endpoints', { body: hook });
    const { id } = made.body.webhook_endpoint;
    await world.server.call('POST', `/api/v1/webhook_endpoints/${id}:test`);
    const { page, go } = await world.logIn();
    await go(`/webhooks/${id}`);
    await page.getByRole('cell', { name: 'Retrying' }).first().waitFor();
    expect(await page.getByRole('columnheader').allInnerTexts()).to.include('Last attempt');
    await page
      .getByRole('cell', { name: /^No response, / })
      .first()
      .waitFor();
    await page.getByRole('button', { name: 'Details' }).first().click();
    await page.getByText('Next attempt', { exact: true }).waitFor();
    await go('/webhooks');
    await page.getByRole('row', { name: /hooks\.acme\.example/ }).waitFor();
    expect(await page.getByRole('columnheader').allInnerTexts()).not.to.include('Description');
    await page.context().close();
  });

  it('says that the requested connection is a draft or disabled, instead of taking another one', async () => {
    const { server } = world;
    const draft = await createConnection(server, { connector: 'slack', key_id: 'slack-draft' });
    const off = await createConnection(server, { connector: 'apollo', key_id: 'apollo-off' });
    await createConnection(server, { connector: 'apollo', key_id: 'apollo-on' });
    const disabled = await server.call('PUT', `/api/v1/connections/${off.id}`, { body: { enabled: false } });
    expect(disabled.status, disabled.text).to.equal(200);
    const { page, go } = await world.logIn({ viewport: { width: 320, height: 640 } });
    const dialog = page.getByRole('dialog', { name: 'Connect an account' });
    for (const [{ id, key_id: name }, reason] of [
      [off, 'is disabled'],
      [draft, 'is a draft'],
    ] as const) {
      await go(`/accounts?connect=${name}`);
      await dialog.getByText(`The connection ${name} ${reason}`).waitFor();
      expect(await dialog.getByLabel('Connection', { exact: true }).inputValue()).to.equal('');
      expect(await dialog.getByRole('link').getAttribute('href')).to.match(new RegExp(`/connections/${id}$`));
      expect(await dialog.getByRole('button').allInnerTexts()).to.deep.equal(['Close']);
      expect(await violations(page)).to.deep.equal([]);
    }
    await dialog.getByLabel('Connection', { exact: true }).selectOption('apollo-on');
    await dialog.getByLabel('User id').waitFor();
    expect(await dialog.getByText('is a draft').count()).to.equal(0);
    await page.context().close();
  });

  it('says that nothing is connected to the requested application yet, and leads to its setup', async () => {
    const { page, go } = await world.logIn({ viewport: { width: 320, height: 640 } });
    await createConnection(world.server, { connector: 'apollo', key_id: 'apollo-of-others' });
    await go('/tools/sentry_search_issues');
    await page.getByRole('link', { name: 'Connect one.' }).click();
    const dialog = page.getByRole('dialog', { name: 'Connect an account' });
    await dialog.getByText('There is no connection to sentry yet.').waitFor();
    expect(await dialog.getByLabel('Connection', { exact: true }).inputValue()).to.equal('');
    expect(await violations(page)).to.deep.equal([]);
    await dialog.getByRole('link', { name: 'Set up a connection' }).click();
    await page.getByRole('heading', { level: 2, name: 'Sentry', exact: true }).waitFor();
    expect(await dialog.count()).to.equal(0);
    await page.context().close();
  });

  it('stops to load a list whose next page fails, and loads it when the operator asks for it', async () => {
    const { page, go } = await world.logIn();
    let isFailing = true;
    let failures = 0;
    await page.route(/\/api\/v1\/tools\?.*page_token=/, (route) => {
      if (!isFailing) return route.continue();
      failures += 1;
      return route.fulfill({ status: 400, json: { title: 'Invalid request', detail: 'The token is too old.' } });
    });
    await go('/tools');
    await page.locator('.rows .row').first().waitFor();
    await page.evaluate("document.querySelector('.list').scrollTop = 100_000");
    await page.getByRole('alert').getByText('The token is too old.').waitFor();
    expect(await page.getByRole('row').count()).to.be.above(10);
    // Waits for two frames, in which the page would send any further request.
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
    expect(failures).to.equal(1);
    isFailing = false;
    const loaded = page.waitForResponse((response) => response.url().includes('page_token=') && response.ok());
    await page.getByRole('button', { name: 'Load more' }).click();
    await loaded;
    await page.getByRole('alert').waitFor({ state: 'detached' });
    await page.context().close();
  });

  it('says how to allow calls of an imported API that is on the machine of the server', async () => {
    const { page, go } = await world.logIn({ viewport: { width: 320, height: 640 } });
    await go('/import');
    const get = { operationId: 'listNotes', responses: { 200: { description: 'Notes' } } };
    const document = { openapi: '3.1.0', info: { title: 'Notes', version: '1' }, paths: { '/notes': { get } } };
    const servers = [{ url: 'http://127.0.0.1:9' }];
    await page.getByLabel('Provider').fill('local-notes');
    await page.getByLabel('Or paste the document').fill(JSON.stringify({ ...document, servers }));
    await page.getByRole('button', { name: 'Preview' }).click();
    await page.getByRole('alert').getByRole('button', { name: 'Base URL' }).waitFor();
    await page.getByText('VALETKEY_EGRESS_ALLOW=127.0.0.1:9', { exact: true }).waitFor();
    expect(await violations(page)).to.deep.equal([]);
    await page.getByLabel('Base URL').fill('http://api.acme.example');
    await page.getByLabel('Or paste the document').fill(JSON.stringify(document));
    await page.getByRole('button', { name: 'Preview' }).click();
    await page
      .getByText('VALETKEY_EGRESS_ALLOW=', { exact: false })
      .and(page.locator('code'))
      .waitFor({ state: 'detached' });
    await page.context().close();
  });

  it('leads from an audit entry to the tool, or to the overlay, that it is about', async () => {
    await setOverlay(world.server, 'github_search_issues', { title: 'Repositories of the shop' });
    const { page, go } = await world.logIn();
    await go('/audit?action=tool_overlay.updated');
    await page.getByRole('link', { name: 'github_search_issues' }).click();
    await page.waitForURL(/overlays\/github_search_issues$/);
    await page.getByRole('heading', { level: 1, name: /^Overlay of/ }).waitFor();
    await page.context().close();
  });

  it('leaves no gap between rows of different heights when one is added before them', async () => {
    const add = async (url: string, description: string) => {
      const body = { url, description };
      expect((await world.server.call('POST', '/api/v1/webhook_endpoints', { body })).status).to.equal(201);
    };
    const long = 'a-long-description-'.repeat(10);
    await add('https://gap.acme.example/one', '');
    await add('https://gap.acme.example/two', long);
    const { page, go } = await world.logIn({ viewport: { width: 320, height: 900 } });
    await go('/webhooks');
    const rows = page.locator('.rows > .row');
    await page.getByRole('link', { name: 'gap.acme.example/two' }).waitFor();
    await add('https://gap.acme.example/three', '');
    await page.getByRole('link', { name: 'gap.acme.example/three' }).waitFor();
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
    const gaps = async () => {
      const boxes = await Promise.all((await rows.all()).map((row) => row.boundingBox()));
      const sorted = boxes.filter((box) => box !== null).sort((a, b) => a.y - b.y);
      return sorted.slice(1).map(({ y }, index) => {
        const { y: before, height } = sorted[index] as { y: number; height: number };
        return Math.round(y - before - height);
      });
    };
    expect(new Set(await gaps())).to.deep.equal(new Set([0]));
    await page.context().close();
  });

  it('shows the rows of a list as blocks where its columns do not fit, and no column without a value', async () => {
    await createAccount(world.server, { identifier: 'blocks@acme.example', userId: 'user_blocks' });
    const { page, go } = await world.logIn({ viewport: NARROW });
    await go('/accounts');
    await page.getByRole('link', { name: 'blocks@acme.example' }).waitFor();
    const list = page.locator('.list');
    expect(await list.getAttribute('class')).to.include('stacked');
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.locator('.list:not(.stacked)').waitFor();
    expect(await page.getByRole('columnheader').allInnerTexts()).not.to.include('Organization');
    await page.getByRole('columnheader', { name: 'User' }).waitFor();
    await page.context().close();
  });

  it('lists the API clients of every page, and does not scroll sideways at 320 px', async () => {
    for (let index = 0; index < 110; index++) {
      const body = { name: `Client ${index}`, scopes: ['tools:read'] };
      expect((await world.server.call('POST', '/api/v1/api_clients', { body })).status).to.equal(201);
    }
    const { page, go } = await world.logIn();
    await go('/settings');
    await page.getByText('111 entries').waitFor();
    // The oldest client is on the second page.
    const oldest = page.getByRole('row', { name: /^Client 0 / });
    while ((await oldest.count()) === 0) {
      await page.evaluate(`document.querySelector('.list.wraps').scrollBy(0, 400)`);
      await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
    }
    expect(await oldest.getByRole('button', { name: 'Disable …' }).isVisible()).to.equal(true);
    await page.setViewportSize({ width: 320, height: 900 });
    await page.locator('.list.wraps.stacked').waitFor();
    expect(await page.evaluate(HIDDEN_PX)).to.equal(0);
    await page.context().close();
  });

  it('sorts a small table by its heads, and shows its rows as blocks where its columns do not fit', async () => {
    const { id } = await createConnection(world.server, { connector: 'linear', key_id: 'sorted' });
    const { page, go } = await world.logIn();
    await go(`/connections/${id}`);
    await page.getByRole('button', { name: 'Check now' }).click();
    const table = page.getByRole('table', { name: 'Findings' });
    await table.waitFor();
    const values = async () =>
      (await table.locator('.rows > .row > :first-child').allInnerTexts()).map((text) => text.trim());
    const head = (name: string) => table.getByRole('columnheader', { name });
    const before = await values();
    await head('Value').getByRole('button').press('Enter');
    expect(await head('Value').getAttribute('aria-sort')).to.equal('ascending');
    const ascending = await values();
    expect(ascending).to.have.members(before).and.not.to.deep.equal(before);
    await head('Value').getByRole('button').press('Enter');
    expect(await head('Value').getAttribute('aria-sort')).to.equal('descending');
    expect(await values()).to.deep.equal(ascending.toReversed());
    expect(await violations(page)).to.deep.equal([]);
    await page.setViewportSize({ width: 320, height: 900 });
    await page.locator('.list.small.stacked').waitFor();
    expect(await page.evaluate(HIDDEN_PX)).to.equal(0);
    expect(await table.getByRole('button').count()).to.equal(0);
    expect(await violations(page)).to.deep.equal([]);
    await page.context().close();
  });
});
