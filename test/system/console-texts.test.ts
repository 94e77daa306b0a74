import { expect } from 'chai';
import { createAccount } from '../support/accounts.ts';
import { ownTool, storeTools } from '../support/own-tools.ts';
import { type ConsoleWorld, startConsoleWorld } from './support/console-world.ts';

/** What an attacker would put into a field that the console shows. */
const MARKUP = '<img src=x onerror="window.attacked=1"><script>window.attacked=1</script>';

describe('texts of others in the console', () => {
  let world: ConsoleWorld;
  let connectionId: string;
  let accountId: string;
  let endpointId: string;

  before(async () => {
    world = await startConsoleWorld();
    const { server } = world;
    const call = async (path: string, body: unknown) => {
      const answer = await server.call('POST', path, { body });
      if (answer.status >= 300) throw new Error(`${path}: ${answer.text}`);
      return answer.body;
    };
    await call('/api/v1/custom-providers', {
      display_name: `Evil ${MARKUP}`.slice(0, 100),
      description: MARKUP,
      icon_src: 'https://evil.example/icon.svg',
      proxy_enabled: true,
      proxy_url: `http://127.0.0.1:${world.upstream.port}`,
      auth_patterns: [{ type: 'API_KEY', display_name: MARKUP, description: MARKUP }],
    });
    const { providers } = (await server.call('GET', '/api/v1/providers?is_custom=true')).body;
    const { identifier } = providers[0];
    const made = await call('/api/v1/connections', { connector: identifier, organization_name: MARKUP });
    connectionId = made.connection.id;
    await storeTools(server, [ownTool(identifier, 'evil_get_thing', { title: MARKUP, description: MARKUP })]);
    const account = await createAccount(server, {
      connector: identifier,
      identifier: MARKUP,
      userId: MARKUP,
      connectedAccount: { authorization_details: { static_auth: { details: { api_key: 'key' } } } },
    });
    accountId = account.id;
    world.upstream.handler = (_request, res) => {
      res.writeHead(500, { 'content-type': 'text/html' }).end(MARKUP);
    };
    const hook = { url: `https://app.acme.example/?${encodeURIComponent(MARKUP)}`, description: MARKUP };
    endpointId = (await call('/api/v1/webhook_endpoints', hook)).webhook_endpoint.id;
    await call('/api/v1/mcp/configs', { name: MARKUP.slice(0, 60), mappings: [{ connection_id: connectionId }] });
    await call('/api/v1/api_clients', { name: MARKUP.slice(0, 100), scopes: ['tools:read'] });
    await call('/api/v1/operator_sessions', { operator: MARKUP.slice(0, 100), role: 'VIEWER' });
  });
  after(() => world.stop());

  it('are shown as texts on every page, and load nothing from other hosts', async () => {
    const { page, go, hosts, complaints } = await world.logIn();
    const details = [
      `/accounts/${accountId}`,
      `/connections/${connectionId}`,
      `/webhooks/${endpointId}`,
      '/tools/evil_get_thing',
      '/connections/new',
      `/executions?agent_run_id=${encodeURIComponent(MARKUP)}`,
      `/login?next=${encodeURIComponent('javascript:window.attacked=1')}`,
    ];
    for (const path of [
      '/',
      '/accounts',
      '/connections',
      '/tools?query=thing',
      '/mcp',
      '/audit',
      '/settings',
      ...details,
    ]) {
      await go(path);
      await page.getByText('Loading').first().waitFor({ state: 'detached' });
      expect(await page.evaluate('window.attacked'), path).to.equal(undefined);
      expect(await page.locator('img[src="x"], main script').count(), path).to.equal(0);
    }
    expect(hosts()).to.deep.equal([new URL(world.server.origin).host]);
    expect(complaints).to.deep.equal([]);
    await page.context().close();
  });

  it('are shown as texts in the result of a call', async () => {
    const { page, go } = await world.logIn();
    await go(`/tools/evil_get_thing?account=${accountId}`);
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByRole('region', { name: 'Error of the provider' }).waitFor();
    expect(await page.evaluate('window.attacked')).to.equal(undefined);
    await page.context().close();
  });

  it('are shown as texts in the preview of an import', async () => {
    const { page, go } = await world.logIn();
    await go('/import');
    const operation = {
      operationId: 'getThing',
      summary: MARKUP,
      description: MARKUP,
      responses: { 200: { description: MARKUP } },
    };
    const document = {
      openapi: '3.1.0',
      info: { title: MARKUP, version: '1' },
      servers: [{ url: 'https://api.evil.example' }],
      paths: { '/things': { get: operation }, [`/${MARKUP}`]: { get: { ...operation, operationId: MARKUP } } },
    };
    await page.getByLabel('Provider').fill('evil-import');
    await page.getByLabel('Or paste the document').fill(JSON.stringify(document));
    await page.getByRole('button', { name: 'Preview' }).click();
    await page.getByText('New tools').waitFor();
    for (const summary of await page.locator('summary').all()) await summary.click();
    expect(await page.evaluate('window.attacked')).to.equal(undefined);
    await page.context().close();
  });

  it('do not lead out of the console after the login', async () => {
    const { browser, server } = world;
    for (const next of ['https://evil.example/', '//evil.example', '/\\evil.example', 'javascript:alert(1)']) {
      const made = await server.call('POST', '/api/v1/operator_sessions', {
        body: { operator: 'ada', role: 'VIEWER' },
      });
      const token = new URL(made.body.login_url).hash;
      const page = await browser.newPage();
      await page.goto(`${server.origin}/console/login?next=${encodeURIComponent(next)}${token}`);
      await page.getByRole('button', { name: 'Log in' }).click();
      await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
      expect(new URL(page.url()).origin).to.equal(server.origin);
      await page.close();
    }
  });
});
