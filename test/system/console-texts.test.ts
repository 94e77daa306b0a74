import * as sdk from '@modelcontextprotocol/server';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { createAccount } from '../support/accounts.ts';
import { execute, finishedExecution } from '../support/execute.ts';
import { connectMcp, sessionToken } from '../support/mcp.ts';
import { createMcpProvider } from '../support/mcp-provider.ts';
import { type ModernServer, startModernServer } from '../support/mcp-upstream.ts';
import { ownTool, storeTools } from '../support/own-tools.ts';
import { createConnection, createProvider } from '../support/providers.ts';
import { json } from '../support/upstream.ts';
import { openPage } from './support/connect-browser.ts';
import { type ConsoleWorld, startConsoleWorld } from './support/console-world.ts';

/** Texts that an attacker would put into a field that the console shows. */
const MARKUP = '<img src=x onerror="window.attacked=1"><script>window.attacked=1</script>';

/** Checks that no text was interpreted as markup. */
async function expectText(page: Page): Promise<void> {
  expect(await page.evaluate('window.attacked'), page.url()).to.equal(undefined);
  expect(await page.locator('img[src="x"], main script').count(), page.url()).to.equal(0);
}

/** An MCP server whose names and contents are all markup. */
function startEvilServer(): Promise<ModernServer> {
  return startModernServer(() => {
    const mcp = new sdk.McpServer({ name: MARKUP, version: '1' }, { capabilities: { tools: {} } });
    const inputSchema = sdk.fromJsonSchema({ type: 'object', properties: { text: { type: 'string', title: MARKUP } } });
    const say = { title: MARKUP, description: MARKUP, inputSchema, annotations: { readOnlyHint: true } };
    mcp.registerTool(
      'say',
      say as never,
      (() => ({ isError: true, content: [{ type: 'text', text: MARKUP }] })) as never,
    );
    mcp.registerResource(MARKUP, 'evil://note', { title: MARKUP, description: MARKUP }, ({ href }) => ({
      contents: [{ uri: href, text: MARKUP }],
    }));
    mcp.registerPrompt('ask', { title: MARKUP, description: MARKUP }, () => {
      throw new Error(MARKUP);
    });
    return mcp;
  });
}

describe('texts of third parties in the console', () => {
  let evil: ModernServer;
  let world: ConsoleWorld;
  let connectionId: string;
  let accountId: string;
  let connectorOfEvil: string;
  let endpointId: string;

  before(async () => {
    evil = await startEvilServer();
    world = await startConsoleWorld({
      VALETKEY_ENDPOINT_OVERRIDES: evil.endpointOverride('https://mcp.evil.example'),
    });
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
    connectorOfEvil = identifier;
    const made = await call('/api/v1/connections', { connector: identifier, organization_name: MARKUP });
    connectionId = made.connection.id;
    await storeTools(server, [ownTool(identifier, 'evil_get_thing', { title: MARKUP, description: MARKUP })]);
    const overlay = { title: MARKUP.slice(0, 100), added_description: MARKUP };
    const set = await server.call('PUT', '/api/v1/tool_overlays/evil_get_thing', { body: overlay });
    if (set.status !== 200) throw new Error(set.text);
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
  after(async () => {
    await world.stop();
    await evil.stop();
  });

  it('are shown as texts on every page, and load nothing from other hosts', async () => {
    const { page, go, hosts, complaints } = await world.logIn();
    const details = [
      `/accounts/${accountId}`,
      `/connections/${connectionId}`,
      `/webhooks/${endpointId}`,
      '/tools/evil_get_thing',
      '/overlays',
      '/overlays/evil_get_thing',
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

  it('are shown as texts in the form of a tool, from every part of its input schema', async () => {
    const property = { type: 'string', title: MARKUP, description: MARKUP, default: MARKUP, examples: [MARKUP] };
    const input_schema = {
      type: 'object',
      title: MARKUP,
      description: MARKUP,
      properties: {
        [MARKUP]: property,
        choice: { ...property, enum: [MARKUP, 'other'] },
        list: { type: 'array', title: MARKUP, items: property },
        anything: { description: MARKUP },
      },
    };
    const examples = [{ input: { [MARKUP]: MARKUP, choice: MARKUP, list: [MARKUP], anything: MARKUP }, note: MARKUP }];
    const output_schema = { type: 'object', description: MARKUP };
    const request = { method: 'POST' as const, path: '/things' };
    const tool = ownTool(connectorOfEvil, 'evil_send_form', {
      input_schema,
      output_schema,
      examples,
      request,
    } as never);
    await storeTools(world.server, [tool]);
    const { page, go, complaints } = await world.logIn();
    await go('/tools/evil_send_form');
    await page.getByRole('button', { name: 'Add' }).first().waitFor();
    expect(await page.getByRole('region', { name: 'Input schema' }).innerText()).to.include('<img src=x');
    await expectText(page);
    for (const name of ['JSON', 'TypeScript', 'Python', 'MCP', 'curl']) {
      await page.getByRole('tab', { name, exact: true }).click();
      await expectText(page);
    }
    expect(complaints).to.deep.equal([]);
    await page.context().close();
  });

  it('are shown as texts in an overlay, with its values and its preview', async () => {
    const { server } = world;
    const text = { type: 'string', description: MARKUP };
    const input_schema = { type: 'object', properties: { preset: text, limited: text, typed: text } };
    await storeTools(server, [ownTool(connectorOfEvil, 'evil_limit_thing', { input_schema } as never)]);
    const body = { preset_inputs: { preset: MARKUP }, allowed_values: { limited: [MARKUP, 'other'] } };
    const set = await server.call('PUT', '/api/v1/tool_overlays/evil_limit_thing', { body });
    expect(set.status, set.text).to.equal(200);
    const { page, go, complaints } = await world.logIn();
    await go('/overlays/evil_limit_thing');
    await page.getByText(`always ${JSON.stringify(MARKUP)}`).waitFor();
    await page.getByText(`only ${JSON.stringify(MARKUP)}`).waitFor();
    await page.getByLabel('Title').fill(MARKUP.slice(0, 100));
    await page.getByLabel('Words to add to the description').fill(MARKUP);
    await page.getByLabel('typed', { exact: true }).selectOption('Always this value');
    await page.getByLabel('Value of typed').fill(MARKUP);
    await page.locator('.restrictions li').nth(2).waitFor();
    await expectText(page);
    await page.getByRole('tab', { name: 'As defined' }).click();
    await expectText(page);
    expect(complaints).to.deep.equal([]);
    // The tool has changed since, so the overlay says why it does not apply.
    await storeTools(server, [ownTool(connectorOfEvil, 'evil_limit_thing', { title: MARKUP })]);
    await go('/overlays/evil_limit_thing');
    await page.getByText('Tool has changed').waitFor();
    await expectText(page);
    await page.context().close();
  });

  it('are shown as texts from a third-party MCP server: its tools, and reads of its resources and prompts', async () => {
    const { server } = world;
    const made = await createMcpProvider(server, 'https://mcp.evil.example/mcp', { name: 'Evil Server' });
    expect((await made.sync()).status).to.equal(200);
    const mappings = [{ connection_id: made.connectionId, resources: true, prompts: true }];
    const config = await server.call('POST', '/api/v1/mcp/configs', { body: { name: 'Evil', mappings } });
    const { id } = config.body.config;
    const token = await sessionToken(server, id, { user_id: 'user-1', identifier: 'ada' });
    const client = await connectMcp(server, id, token);
    const { resources } = await client.listResources();
    expect(resources[0]?.title).to.equal(MARKUP);
    await client.readResource({ uri: resources[0]?.uri ?? '' });
    await client.getPrompt({ name: 'evil-server.ask' }).catch(() => {});
    await client.close();
    const { tools } = (await server.call('GET', `/api/v1/tools?connector=${made.identifier}`)).body;
    const { page, go } = await world.logIn();
    await go(`/tools/${tools[0].name}?account=${made.accountId}`);
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByRole('region', { name: 'Error of the provider' }).waitFor();
    await expectText(page);
    const { executions } = (await server.call('GET', `/api/v1/executions?connector=${made.identifier}`)).body;
    expect(executions.map((row: { tool_name: string }) => row.tool_name)).to.include.members([
      'mcp_resource',
      'mcp_prompt',
    ]);
    for (const { id: execution } of executions) {
      await go(`/executions/${execution}`);
      await page.getByRole('heading', { name: 'Timeline' }).waitFor();
      await expectText(page);
    }
    await go('/mcp');
    await page.getByLabel('Server', { exact: true }).selectOption({ label: 'Evil' });
    await page.getByText('Change this server').click();
    await expectText(page);
    await page.context().close();
  });

  it('are shown as texts in an execution, with its error, its contents and its time line', async () => {
    const kept = { keep_execution_contents: true };
    expect((await world.server.call('PUT', '/api/v1/environment', { body: kept })).status).to.equal(200);
    world.upstream.handler = (_request, res) => json(res, 200, { name: MARKUP, [MARKUP]: MARKUP });
    const ran = await execute(world.server, accountId, 'evil_get_thing', { number: 1 });
    expect(ran.status, ran.text).to.equal(200);
    await finishedExecution(world.server, ran.body.execution_id);
    const { page, go } = await world.logIn();
    await go(`/executions/${ran.body.execution_id}`);
    expect(await page.getByRole('region', { name: 'Response' }).innerText()).to.include('<img src=x');
    await expectText(page);
    await page.context().close();
  });

  it('are shown as texts in the results of doctor, which quote what a provider publishes', async () => {
    const { server, upstream } = world;
    const issuer = `http://127.0.0.1:${upstream.port}`;
    const addresses = { authorize_uri: `${issuer}/authorize`, token_uri: `${issuer}/token` };
    const { identifier } = await createProvider(server, {
      display_name: 'Evil sign-in',
      auth_patterns: [{ type: 'OAUTH', oauth_config: { issuer, ...addresses } }],
    });
    upstream.handler = (_request, res) =>
      json(res, 200, {
        issuer,
        authorization_endpoint: 'https://evil.example/authorize',
        token_endpoint: 'https://evil.example/token',
        response_types_supported: ['code'],
        code_challenge_methods_supported: [MARKUP],
      });
    const { id } = await createConnection(server, { connector: identifier });
    const { page, go } = await world.logIn();
    await go(`/connections/${id}`);
    await page.getByRole('button', { name: 'Check now' }).click();
    await page.getByRole('columnheader', { name: 'Verdict' }).waitFor();
    const verdicts = await page.getByRole('table', { name: 'Findings' }).innerText();
    expect(verdicts, verdicts).to.match(/img src=x/);
    await expectText(page);
    await page.context().close();
  });

  it('are shown as texts in deliveries of webhooks, in errors of the API, and in names of MCP clients', async () => {
    const { server } = world;
    const client = { name: MARKUP.slice(0, 60), redirect_uris: ['https://agent.example/callback'] };
    const made = await server.call('POST', '/api/v1/mcp/clients', { body: client });
    expect(made.status, made.text).to.equal(201);
    const { page, go } = await world.logIn();
    await go(`/webhooks/${endpointId}`);
    await page.getByRole('button', { name: 'Send a test event' }).click();
    await page.getByRole('button', { name: 'Details' }).first().click();
    await expectText(page);
    for (const path of [
      '/mcp',
      `/accounts?identifier=${encodeURIComponent(MARKUP)}`,
      `/tools/${encodeURIComponent(MARKUP)}`,
    ]) {
      await go(path);
      await page.getByText('Loading').first().waitFor({ state: 'detached' });
      await expectText(page);
    }
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Search' }).fill('<img src=x');
    await expectText(page);
    await page.context().close();
  });

  it('are shown as texts to users: on the pages of links, of the portal and of MCP logins', async () => {
    const { server, browser } = world;
    const brand = {
      application_name: MARKUP.slice(0, 60),
      support_url: `https://app.acme.example/?${encodeURIComponent(MARKUP)}`,
    };
    expect((await server.call('PUT', '/api/v1/environment', { body: brand })).status).to.equal(200);
    const user = { user_id: MARKUP, identifier: MARKUP };
    const verifyUrl = 'http://127.0.0.1:9/verify';
    await server.call('PUT', '/api/v1/environment', { body: { user_verify_urls: [verifyUrl] } });
    const session = await server.call('POST', '/api/v1/portal_sessions', { body: user });
    expect(session.status, session.text).to.equal(201);
    const link = await server.call('POST', '/api/v1/connected_accounts/magic_link', {
      body: { connector: connectorOfEvil, ...user, identifier: `${MARKUP} 2`, user_verify_url: verifyUrl },
    });
    expect(link.status, link.text).to.equal(200);
    const { page, complaints } = await openPage(browser);
    for (const url of [
      session.body.url,
      link.body.link,
      `${server.origin}/oauth/authorize?client_id=${encodeURIComponent(MARKUP)}`,
    ]) {
      await page.goto(url);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await expectText(page);
    }
    expect(complaints.filter((text) => !text.includes('400'))).to.deep.equal([]);
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
      const { page } = await openPage(browser);
      await page.goto(`${server.origin}/console/login?next=${encodeURIComponent(next)}${token}`);
      await page.getByRole('button', { name: 'Log in' }).click();
      await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
      expect(new URL(page.url()).origin).to.equal(server.origin);
      await page.context().close();
    }
  });
});
