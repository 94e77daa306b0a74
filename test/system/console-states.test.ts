import { expect } from 'chai';
import { createAccount } from '../support/accounts.ts';
import { createMcpProvider } from '../support/mcp-provider.ts';
import { createConnection } from '../support/providers.ts';
import { setOverlay } from '../support/tool-overlays.ts';
import { violations } from './support/connect-browser.ts';
import { type ConsoleWorld, startConsoleWorld } from './support/console-world.ts';

/** Too narrow for the columns of the list of accounts, but wider than a phone. */
const NARROW = { width: 640, height: 900 };

describe('states of the console’s pages', () => {
  let world: ConsoleWorld;

  before(async () => {
    world = await startConsoleWorld();
  });
  after(() => world.stop());

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

  it('says that a delivery is retried, and when it was last attempted', async () => {
    const hook = { url: 'https://hooks.acme.example/in', description: '' };
    const made = await world.server.call('POST', '/api/v1/webhook_endpoints', { body: hook });
    const { id } = made.body.webhook_endpoint;
    await world.server.call('POST', `/api/v1/webhook_endpoints/${id}:test`);
    const { page, go } = await world.logIn();
    await go(`/webhooks/${id}`);
    await page.getByRole('cell', { name: 'Retrying' }).first().waitFor({ timeout: 60_000 });
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
    await page.getByRole('link', { name: 'gap.acme.example/three' }).waitFor({ timeout: 60_000 });
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
});
