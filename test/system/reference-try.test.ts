import { expect } from 'chai';
import type { Browser, Page, Response } from 'playwright-core';
import { SCOPES } from '../../core/tokens/scopes.ts';
import { buildReference } from '../../scripts/build-reference.ts';
import { arrayAt, objectAt, operationsOf } from '../../scripts/openapi-document.ts';
import { contract } from '../contract/contract.ts';
import { allowVerifyUrls } from '../support/links.ts';
import { createProvider } from '../support/providers.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';
import { launch, openPage } from './support/connect-browser.ts';

const DESK = { width: 1440, height: 900 };

describe('trying an operation on the reference page', () => {
  let server: TestServer;
  let browser: Browser;
  let token: string;

  before(async () => {
    buildReference();
    server = await startTestServer();
    // The examples of the contract belong to an environment with this address and this provider.
    await allowVerifyUrls(server, 'https://app.acme.test/verify');
    await createProvider(server, {
      display_name: 'Acme CRM',
      proxy_url: 'https://api.acme-crm.example',
      proxy_enabled: true,
    });
    token = server.token(...SCOPES);
    browser = await launch({});
  });
  after(async () => {
    await browser?.close();
    await server?.stop();
  });

  /**
   * Opens the page with one operation of the contract, because the page with all of them takes seconds to open each.
   */
  async function openOperation(path: string, method: string, tag: string): Promise<Page> {
    const { page } = await openPage(browser, { viewport: DESK });
    await page.route('**/openapi.json', (route) => {
      const { [method]: operation, parameters = [] } = objectAt(objectAt(contract, 'paths'), path);
      const paths = { [path]: { parameters, [method]: operation } };
      return route.fulfill({ json: { ...contract, paths, webhooks: {} } });
    });
    const group = tag.toLowerCase().replaceAll(' ', '-');
    await page.goto(`${server.origin}/docs#tag/${group}/${method.toUpperCase()}${path}`);
    return page;
  }

  afterEach(() => Promise.all(browser.contexts().map((context) => context.close())));

  /** Presses the buttons of the page, with a token if the operation needs one. */
  async function send(page: Page, path: string): Promise<Response> {
    const press = page.getByRole('button', { name: /Test Request/ });
    await press.waitFor();
    const field = page.getByRole('textbox', { name: /token/i }).first();
    if (await field.isVisible()) await field.fill(token);
    await press.click();
    const start = path.split('{')[0] as string;
    const answered = page.waitForResponse((response) => new URL(response.url()).pathname.startsWith(start));
    await page.getByRole('button', { name: /^Send/ }).first().click();
    return answered;
  }

  // These operations are always tried: they read the client's credentials from the form, and reject an access token.
  const withForms = ['issueToken', 'revokeOAuthToken'];
  // Each operation takes seconds, so by default only a tenth of the others is tried.
  const isAll = process.env['TRY_OPERATIONS'] === 'all';
  const tried = operationsOf(contract).filter(({ id }, place) => isAll || withForms.includes(id) || place % 10 === 0);
  for (const { id, path, method, definition } of tried) {
    it(`sends a request that the server accepts: ${id}`, async () => {
      const page = await openOperation(path, method, String(arrayAt(definition, 'tags')[0]));
      const response = await send(page, path);
      const text = response.status() === 400 ? await response.text() : '';
      // The contract's example names connections that this server does not have.
      if (id === 'createMcpConfig') expect(text).to.include('UNKNOWN_CONNECTOR');
      else expect(response.status(), `${response.url()} ${response.request().postData()} ${text}`).not.to.equal(400);
    });
  }
});
