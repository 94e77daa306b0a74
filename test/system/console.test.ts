import { expect } from 'chai';
import { freePort } from '../../scripts/demo/process.ts';
import { createAccount } from '../support/accounts.ts';
import { startAuthorizationServer } from '../support/authorization-server.ts';
import { execute, finishedExecution } from '../support/execute.ts';
import { json } from '../support/upstream.ts';
import { openPage, violations } from './support/connect-browser.ts';
import { addAccounts, addCalls, addNotes, fillConsole } from './support/console-data.ts';
import { CONSOLE_PAGES } from './support/console-pages.ts';
import { type ConsoleWorld, startConsoleWorld } from './support/console-world.ts';

/** The description of an API with one operation, as a user pastes it. */
const SHOP = JSON.stringify({
  openapi: '3.1.0',
  info: { title: 'Acme Shop', version: '1' },
  components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
  security: [{ token: [] }],
  paths: {
    '/orders/{order_id}': {
      get: {
        operationId: 'getOrder',
        summary: 'Get an order',
        parameters: [{ name: 'order_id', in: 'path', required: true, schema: { type: 'string' } }],
        responses: { 200: { description: 'An order' } },
      },
    },
  },
});

interface Scrolled {
  /** The rows that the list has loaded. */
  rows: number;
  /** The longest time between two frames. */
  longestMs: number;
  inDocument: number;
}

/** Returns a script that scrolls the list of a page to its end, again and again, until it has loaded this many rows. */
function scrollThrough(rows: number): string {
  return `new Promise((resolve) => {
    const list = document.querySelector('.list');
    let [last, longestMs] = [performance.now(), 0];
    const step = (now) => {
      longestMs = Math.max(longestMs, now - last);
      last = now;
      const loaded = Math.round(list.scrollHeight / 44);
      if (loaded >= ${rows}) resolve({ rows: loaded, longestMs, inDocument: list.querySelectorAll('[role=row]').length });
      else {
        list.scrollTop = list.scrollHeight;
        requestAnimationFrame(step);
      }
    };
    requestAnimationFrame(step);
  })`;
}

/** By how many pixels the widest list exceeds its frame. */
const HIDDEN_PX = `Math.max(0, ...[...document.querySelectorAll('.list')].map((list) => list.scrollWidth - list.clientWidth))`;

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
    await page.getByRole('option', { name: 'ada@acme.example at acme-desk' }).waitFor({ state: 'attached' });
    expect(await page.getByText('No active account').count()).to.equal(0);
    expect(hosts()).to.deep.equal([new URL(server.origin).host]);
    expect(complaints).to.deep.equal([]);
    await page.context().close();
  });

  it('leads a new user from the one-time address through an import to a tool call, with clicks alone', async () => {
    const fresh = await startConsoleWorld();
    const { page, complaints } = await fresh.logIn();
    await page.getByRole('link', { name: 'Set up', exact: true }).click();
    await page.getByLabel('Search').fill('Acme Shop');
    await page.getByRole('link', { name: 'import the description of its API' }).click();
    await page.getByLabel('Provider').fill('acme-shop');
    await page.getByLabel('Or paste the document').fill(SHOP);
    await page.getByLabel('Base URL').fill(`http://127.0.0.1:${fresh.upstream.port}`);
    await page.getByRole('button', { name: 'Preview' }).click();
    await page.getByText('acme-shop (will be created)').waitFor();
    await page.getByRole('button', { name: 'Import these tools' }).click();
    await page.getByText('acme-shop (created)').waitFor();
    await page.getByRole('link', { name: 'set up a connection' }).click();
    await page.getByRole('button', { name: /^Choose/ }).click();
    await page.getByRole('link', { name: 'Connect an account' }).click();
    await page.getByRole('button', { name: 'Connect here' }).click();
    await page.locator('input[type=password]').fill('secret-key-of-the-shop');
    await page.getByRole('button', { name: 'Connect', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'ada@acme.example' }).waitFor();
    await page.getByRole('link', { name: 'Try a tool' }).first().click();
    await page.getByRole('link', { name: 'acme_shop_get_order' }).click();
    await page.getByLabel('order_id').fill('42');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByRole('region', { name: 'Result', exact: true }).getByText('/orders/42').waitFor();
    expect(fresh.upstream.requests).to.have.length(1);
    expect(JSON.stringify(fresh.upstream.requests[0]?.headers)).to.include('secret-key-of-the-shop');
    await page.getByRole('link', { name: 'Home' }).click();
    await page.getByText('Tool calls, last 24 hours').waitFor();
    await page.getByText('Next steps').waitFor({ state: 'detached' });
    expect(complaints).to.deep.equal([]);
    await page.context().close();
    await fresh.stop();
  });

  it('runs a tool with an account, and shows its request in a dry run without the secret', async () => {
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

  for (const keepsEvents of [false, true]) {
    it(`shows changes without reloading ${keepsEvents ? 'from' : 'without'} the stream of events, and sends no request that fails`, async () => {
      const body = { keep_events: keepsEvents };
      expect((await world.server.call('PUT', '/api/v1/environment', { body })).status).to.equal(200);
      const { page, go, requested, complaints } = await world.logIn();
      const accountId = await addNotes(world, `Acme Live ${keepsEvents}`);
      await go('/accounts');
      await page.getByText('Live', { exact: true }).waitFor();
      await createAccount(world.server, { identifier: `live-${keepsEvents}@acme.example` });
      await page.getByRole('link', { name: `live-${keepsEvents}@acme.example` }).waitFor();
      await go(`/executions?connected_account_id=${accountId}`);
      await page.getByText('No execution matches').waitFor();
      await execute(world.server, accountId, `acme_live_${keepsEvents}_get_note`, { number: 7 });
      await page.getByRole('cell', { name: 'Succeeded' }).waitFor();
      expect(requested.some((url) => url.endsWith('/events:stream'))).to.equal(keepsEvents);
      expect(complaints).to.deep.equal([]);
      await page.context().close();
    });
  }

  it('logs an operator in at the OpenID provider of the company, and opens the requested page', async () => {
    const issuerPort = await freePort();
    const company = await startAuthorizationServer({
      localPort: issuerPort,
      claimsOf: (login) => ({ email: `${login}@acme.example`, email_verified: true, groups: ['admins'] }),
    });
    const client = { client_id: 'console', client_secret: 'secret-of-the-console' };
    const one = await startConsoleWorld({
      VALETKEY_EGRESS_ALLOW: `127.0.0.1:${issuerPort}`,
      VALETKEY_CONSOLE_OIDC_ISSUER: company.issuer,
      VALETKEY_CONSOLE_OIDC_CLIENT_ID: client.client_id,
      VALETKEY_CONSOLE_OIDC_CLIENT_SECRET: client.client_secret,
      VALETKEY_CONSOLE_OIDC_ROLES: 'owner=admins',
    });
    await company.register({ ...client, redirect_uris: [`${one.server.origin}/console/session/callback`] });
    const { page } = await openPage(one.browser);
    await page.goto(`${one.server.origin}/console/accounts`);
    await page.getByRole('button', { name: `Log in with 127.0.0.1:${issuerPort}` }).click();
    await page.getByLabel('User name').fill('grace');
    await page.getByRole('button', { name: 'Allow' }).click();
    await page.getByRole('heading', { level: 1, name: 'Accounts' }).waitFor();
    await page.getByText('grace@acme.example').waitFor();
    expect(page.url()).not.to.include('#');
    await one.stop();
    await company.stop();
  });

  it('shows the steps of a call, with the repeated requests', async () => {
    const body = { keep_execution_contents: true };
    expect((await world.server.call('PUT', '/api/v1/environment', { body })).status).to.equal(200);
    const accountId = await addNotes(world, 'Acme Busy');
    const usual = world.upstream.handler;
    const codes = [503, 200];
    world.upstream.handler = (_request, res) => json(res, codes.shift() ?? 500, { name: 'A note' });
    const { body: ran } = await execute(world.server, accountId, 'acme_busy_get_note', { number: 7 });
    world.upstream.handler = usual;
    await finishedExecution(world.server, ran.execution_id);
    const { page, go, complaints } = await world.logIn();
    await go(`/executions/${ran.execution_id}`);
    await page.getByRole('heading', { name: 'Timeline' }).waitFor();
    const steps = await page.locator('.time-line li').allInnerTexts();
    expect(steps).to.have.length(3);
    expect(steps[0]).to.match(/Request to the provider 503/);
    expect(steps[1]).to.match(/Waited/);
    expect(steps[2]).to.match(/Request to the provider 200/);
    expect(complaints).to.deep.equal([]);
    await page.context().close();
  });

  it('shows when a call whose contents are not stored began and ended, and what happened to its account', async () => {
    const body = { keep_execution_contents: false };
    expect((await world.server.call('PUT', '/api/v1/environment', { body })).status).to.equal(200);
    const accountId = await addNotes(world, 'Acme Brief');
    const usual = world.upstream.handler;
    world.upstream.handler = (_request, res) => json(res, 404, { message: 'no such note' });
    const { body: failed } = await execute(world.server, accountId, 'acme_brief_get_note', { number: 7 });
    world.upstream.handler = usual;
    await finishedExecution(world.server, failed.execution_id);
    const { page, go, complaints } = await world.logIn();
    await go(`/executions/${failed.execution_id}`);
    await page.getByRole('heading', { name: 'Timeline' }).waitFor();
    const moments = await page.locator('.time-line li').allInnerTexts();
    expect(moments.at(0)).to.match(/^\+0 ms\s+Started by test-client$/);
    expect(moments.at(-1)).to.match(/^\+[\d.]+ m?s\s+Ended with the response 404, /);
    expect(await violations(page)).to.deep.equal([]);
    expect(complaints).to.deep.equal([]);
    await page.context().close();
  });

  it('changes the connections and the tools of an MCP server', async () => {
    await addNotes(world, 'Acme Mapped');
    const { connections } = (await world.server.call('GET', '/api/v1/connections?connector=acme-mapped')).body;
    const mappings = [{ connection_id: connections[0].id }];
    const made = await world.server.call('POST', '/api/v1/mcp/configs', { body: { name: 'Helpers', mappings } });
    const { page, go } = await world.logIn();
    await go('/mcp');
    await page.getByLabel('Server', { exact: true }).selectOption({ label: 'Helpers' });
    await page.getByText('Change this server').click();
    const form = page.locator('details', { hasText: 'Change this server' });
    await form.getByLabel('Purpose').fill('For the support team');
    const key = connections[0].key_id;
    await form.getByLabel(`Maximum listed of ${key}`).fill('7');
    const path = `/api/v1/mcp/configs/${made.body.config.id}`;
    const read = async () => (await world.server.call('GET', path)).body.config;
    const save = async () => {
      const saved = page.waitForResponse(
        (response) => response.url().endsWith(path) && response.request().method() === 'PUT',
      );
      await form.getByRole('button', { name: 'Save the server' }).click();
      await saved;
    };
    await save();
    const connection_id = connections[0].id;
    expect(await read()).to.deep.include({
      description: 'For the support team',
      mappings: [{ connection_id, tools: null, max_listed_tools: 7, resources: false, prompts: false }],
    });
    await page.getByText('Change this server').click();
    await form.getByLabel(`Tools of ${key}`).fill('acme_mapped_get_note');
    await save();
    expect(await read()).to.deep.include({
      mappings: [
        { connection_id, tools: ['acme_mapped_get_note'], max_listed_tools: null, resources: false, prompts: false },
      ],
    });
    await page.context().close();
  });

  it('sets an overlay of a tool with a preview, changes and deletes it', async () => {
    const accountId = await addNotes(world, 'Acme Overlaid');
    const tool = 'acme_overlaid_get_note';
    const { page, go, complaints } = await world.logIn();
    await go('/overlays');
    await page.getByText('No overlay yet').waitFor();
    await page.getByLabel('Tool', { exact: true }).fill(tool);
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('heading', { level: 1, name: 'Overlay of Get a note' }).waitFor();
    await page.getByLabel('Name', { exact: true }).fill('read_ticket');
    await page.getByLabel('Words to add to the description').fill('Tickets of the shop only.');
    await page.getByLabel('number', { exact: true }).selectOption('Always this value');
    await page.getByLabel('Value of number').fill('seven');
    await page.getByText('Not JSON yet').waitFor();
    expect(await page.getByRole('button', { name: 'Save the overlay' }).isDisabled()).to.equal(true);
    await page.getByLabel('Value of number').fill('7');
    await page.getByText('always 7; callers do not see it').waitFor();
    await page.getByText('Changes nothing. Tickets of the shop only.').waitFor();
    const schema = page.getByRole('region', { name: 'Input schema with the overlay' });
    // The preview is updated shortly after the form.
    await schema.getByText('"properties": {}').waitFor();
    expect(JSON.parse(await schema.innerText()).properties).to.deep.equal({});
    expect((await world.server.call('GET', `/api/v1/tool_overlays/${tool}`)).status).to.equal(404);
    await page.getByRole('button', { name: 'Save the overlay' }).click();
    await page.getByText('Saved.').waitFor();
    const { overlay } = (await world.server.call('GET', `/api/v1/tool_overlays/${tool}`)).body;
    expect(overlay).to.deep.include({ new_name: 'read_ticket', preset_inputs: { number: 7 }, status: 'ACTIVE' });
    expect((await execute(world.server, accountId, 'read_ticket', {})).body.data.path).to.equal('/notes/7');

    await go('/overlays/read_ticket');
    await page.getByRole('heading', { level: 1, name: 'Overlay of Get a note' }).waitFor();
    expect(await page.getByLabel('Value of number').inputValue()).to.equal('7');
    await page.getByLabel('number', { exact: true }).selectOption('Only these values');
    await page.getByLabel('Values of number, one in each line').fill('7\n8');
    await page.getByText('only 7, 8').waitFor();
    await page.getByRole('button', { name: 'Save the overlay' }).click();
    await page.getByText('Saved.').waitFor();
    await go('/overlays');
    await page.getByText('named read_ticket · words added · restricted: number').waitFor();
    await page.getByRole('link', { name: tool }).click();
    await page.getByRole('button', { name: 'Delete …' }).click();
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByText('No overlay yet').waitFor();
    expect((await execute(world.server, accountId, tool, { number: 8 })).body.data.path).to.equal('/notes/8');
    // The page first requests a tool of the overlay's new name, which does not exist, so a 404 is expected.
    expect(complaints.filter((text) => !/read_ticket|404/.test(text))).to.deep.equal([]);
    await page.context().close();
  });

  it('shows the settings of the server, and sets the login of users at a company', async () => {
    const { page, go, complaints } = await world.logIn();
    await go('/settings');
    await page.getByRole('heading', { name: 'Set on the server' }).waitFor();
    await page.getByText(`127.0.0.1:${world.upstream.port}`).waitFor();
    await page.getByRole('cell', { name: world.server.parts.keyIds()[0] as string }).waitFor();
    expect(complaints).to.deep.equal([]);
    await page.getByRole('button', { name: 'Show the login' }).click();
    await page.getByLabel('Issuer').fill('https://login.acme.example');
    await page.getByLabel('Client id').fill('valetkey');
    await page.getByLabel('Client secret').fill('secret-of-the-login');
    await page.getByRole('button', { name: 'Save the login' }).click();
    await page.getByText('/portal/login/callback').waitFor();
    const { login_provider: provider } = (await world.server.call('GET', '/api/v1/mcp/login_provider')).body;
    expect(provider).to.include({ type: 'OIDC', issuer: 'https://login.acme.example' });
    expect(provider.oidc).to.include({ client_id: 'valetkey', has_client_secret: true });
    await page.getByRole('button', { name: 'Remove …' }).click();
    await page.getByRole('button', { name: 'Remove', exact: true }).click();
    await page.getByText('/portal/login/callback').waitFor({ state: 'detached' });
    await page.context().close();
  });

  it('ends in every tab when the operator logs out', async () => {
    const { page } = await world.logIn();
    const other = await page.context().newPage();
    await other.goto(`${world.server.origin}/console/executions`);
    await other.getByRole('heading', { level: 1, name: 'Executions' }).waitFor();
    // A link that was opened here, and from which the browser never returned.
    await page.evaluate("localStorage.setItem('valetkey-link-left', '{}')");
    await page.getByRole('button', { name: 'Log out' }).click();
    for (const each of [page, other]) await each.getByText('Log in with a one-time address.').waitFor();
    expect(await page.context().cookies()).to.deep.equal([]);
    expect(await page.evaluate('localStorage.length')).to.equal(0);
    await page.context().close();
  });

  it('shows a viewer no control that their role forbids', async () => {
    const { page, go } = await world.logIn({ role: 'VIEWER' });
    await go('/settings');
    await page.getByText(/Only operators with the role owner/).waitFor();
    await go('/overlays/github_get_issue');
    await page.getByText('Your role cannot change overlays.').waitFor();
    expect(await page.getByLabel('Title').isDisabled()).to.equal(true);
    await go('/accounts');
    expect(await page.getByRole('button', { name: 'Connect an account' }).count()).to.equal(0);
    await page.context().close();
  });

  it('scrolls through 100,000 executions and 10,000 accounts with few rows in the document', async () => {
    const many = await startConsoleWorld();
    const { id } = await createAccount(many.server);
    await addCalls(many.server, id, 100_000);
    await addAccounts(many.server, 10_000);
    const { page, go, complaints } = await many.logIn();
    for (const [path, total] of [
      ['/executions', '100,000 entries'],
      ['/accounts', '10,001 entries'],
    ] as const) {
      await go(path);
      await page.getByText(total).waitFor();
      const { rows, longestMs, inDocument } = (await page.evaluate(scrollThrough(5000))) as Scrolled;
      expect(rows, path).to.be.at.least(5000);
      expect(inDocument, path).to.be.lessThan(80);
      // The limit only detects a hang, because the browser may wait long on a busy machine.
      expect(longestMs, path).to.be.lessThan(10_000);
    }
    expect(complaints).to.deep.equal([]);
    await page.context().close();
    await many.stop();
  });

  it('does not move rows that are being read, and offers new ones', async () => {
    const many = await startConsoleWorld();
    const { id } = await createAccount(many.server);
    await addCalls(many.server, id, 400);
    const { page, go } = await many.logIn();
    await go('/executions');
    await page.getByText('400 entries').waitFor();
    await page.evaluate(scrollThrough(200));
    const shown = await page.getByRole('row').nth(5).innerText();
    await addCalls(many.server, id, 1);
    await page.getByRole('button', { name: 'Show changes' }).waitFor();
    expect(await page.getByRole('row').nth(5).innerText()).to.equal(shown);
    await page.getByRole('button', { name: 'Show changes' }).click();
    await page.getByText('401 entries').waitFor();
    expect(await page.evaluate("document.querySelector('.list').scrollTop")).to.equal(0);
    await page.context().close();
    await many.stop();
  });

  describe('with a day of data', () => {
    let full: ConsoleWorld;
    let details: string[];

    before(async () => {
      full = await startConsoleWorld();
      const { accountId, executionId } = await fillConsole(full);
      const { connections } = (await full.server.call('GET', '/api/v1/connections')).body;
      const { webhook_endpoints: endpoints } = (await full.server.call('GET', '/api/v1/webhook_endpoints')).body;
      details = [
        `/accounts/${accountId}`,
        `/executions/${executionId}`,
        '/connections/new',
        '/tools/http_post',
        '/overlays/github_create_issue',
        `/connections/${connections[0].id}`,
        `/webhooks/${endpoints[0].id}`,
      ];
    });
    after(() => full.stop());

    it('shows the chart and its key in the same colors where a user chooses the colors of the system', async () => {
      const { page } = await full.logIn({ forcedColors: 'active' });
      const color = (selector: string, property: string) =>
        page.locator(selector).first().evaluate(`(element) => getComputedStyle(element)['${property}']`);
      for (const name of ['good', 'bad']) {
        const bar = await color(`.chart svg .${name}`, 'fill');
        expect(await color(`.chart .key .${name}`, 'backgroundColor'), name).to.equal(bar);
      }
      await page.context().close();
    });

    for (const [width, colorScheme] of [
      [320, 'light'],
      [320, 'dark'],
      [768, 'light'],
      [768, 'dark'],
      [1440, 'light'],
      [1440, 'dark'],
    ] as const) {
      it(`has no violation that axe finds, and fits a width of ${width} px, ${colorScheme}`, async () => {
        const options = { viewport: { width, height: 900 }, colorScheme, reducedMotion: 'reduce' } as const;
        const { page, go, complaints } = await full.logIn(options);
        for (const path of [...CONSOLE_PAGES, ...details]) {
          await go(path);
          await page.getByText('Loading').first().waitFor({ state: 'detached' });
          expect(await violations(page), path).to.deep.equal([]);
          expect(await page.evaluate('document.documentElement.scrollWidth'), path).to.be.at.most(width);
          expect(await page.evaluate(HIDDEN_PX), `${path}: lists`).to.be.at.most(0);
        }
        expect(complaints).to.deep.equal([]);
        await page.context().close();
      });
    }
  });
});
