import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { createConnection } from '../support/providers.ts';
import { violations } from './support/connect-browser.ts';
import { addNotes } from './support/console-data.ts';
import { type ConsoleWorld, startConsoleWorld } from './support/console-world.ts';

interface Form {
  name: string;
  path: string;
  /** Opens the form, and fills in what it requires. */
  fill?(page: Page): Promise<unknown>;
  submit: string;
  /** Fields of the request that have no control. */
  without?: readonly string[];
}

/** Returns the paths of all values in a request, such as `claims.user_id` and `scopes.0`. */
function pathsOf(value: unknown, path: readonly string[] = []): string[] {
  if (typeof value !== 'object' || value === null) return [path.join('.')];
  return Object.entries(value).flatMap(([name, inner]) => pathsOf(inner, [...path, name]));
}

/** Lets the server refuse every value of each request that the page sends from now on. */
async function refuseEverything(page: Page): Promise<void> {
  await page.route('**/api/v1/**', async (route) => {
    const body: unknown = route.request().method() === 'GET' ? null : route.request().postDataJSON();
    if (body === null) return route.continue();
    const errors = pathsOf(body).map((field) => ({ field, message: 'is refused' }));
    const problem = { title: 'Invalid request', status: 400, code: 'VALIDATION_FAILED', detail: 'Refused.', errors };
    return route.fulfill({ status: 400, contentType: 'application/problem+json', body: JSON.stringify(problem) });
  });
}

/** The labels and legends that the page shows, without their hints. */
const LABELS = `[...document.querySelectorAll('label, legend')].map((label) => {
  const copy = label.cloneNode(true);
  for (const hint of copy.querySelectorAll('.hint')) hint.remove();
  return copy.textContent.trim();
})`;
/** The fields that are marked as invalid, and whose description for screen readers lacks the error. */
const NOT_DESCRIBED = `[...document.querySelectorAll('.field [aria-invalid="true"]')]
  .filter((control) => {
    const ids = (control.getAttribute('aria-describedby') ?? '').split(' ');
    return !ids.some((id) => /Is refused/.test(document.getElementById(id)?.textContent ?? ''));
  })
  .map((control) => control.name)`;
const INVALID = `document.querySelectorAll('[aria-invalid="true"]').length`;

describe('errors of the console’s forms', () => {
  let world: ConsoleWorld;
  let github: string;

  before(async () => {
    world = await startConsoleWorld();
    await addNotes(world);
    ({ id: github } = await createConnection(world.server, { connector: 'github', key_id: 'github-named' }));
    await world.server.call('POST', '/api/v1/connections', { body: { connector: 'redshift', key_id: 'warehouse' } });
    await world.server.call('POST', '/api/v1/mcp/configs', {
      body: { name: 'Support agents', mappings: [{ connection_id: github }] },
    });
  });
  after(() => world.stop());

  const forms: Form[] = [
    {
      name: 'the brand',
      path: '/settings',
      fill: (page) => page.getByLabel('Use your own color').check(),
      submit: 'Save the brand',
    },
    {
      name: 'the behavior',
      path: '/settings',
      fill: async (page) => {
        await page.getByLabel('Addresses to which users may return').fill('https://a.example\nhttps://b.example');
        await page.getByLabel('Trusted hosts of MCP clients').fill('a.example');
        await page.getByLabel('Private schemes of MCP clients').fill('cursor');
      },
      submit: 'Save',
    },
    {
      name: 'the login at an OpenID provider',
      path: '/settings',
      fill: async (page) => {
        await page.getByRole('button', { name: 'Show the login' }).click();
        await page.getByLabel('Issuer').fill('https://login.acme.example');
        await page.getByLabel('Client id').fill('valetkey');
        await page.getByLabel('Client secret').fill('secret');
        await page.getByLabel('Scopes beside openid').fill('email');
        await page.getByLabel('Organizations whose users').fill('acme');
      },
      submit: 'Save the login',
      without: ['user_verify_url'],
    },
    {
      name: 'the login by tokens of an authorization server',
      path: '/settings',
      fill: async (page) => {
        await page.getByRole('button', { name: 'Show the login' }).click();
        await page.getByLabel('Who identifies users').selectOption('JWT');
        await page.getByLabel('Issuer').fill('https://login.acme.example');
        await page.getByLabel('Accepted audiences').fill('https://a.example');
        await page.getByLabel('Accepted clients').fill('agent');
      },
      submit: 'Save the login',
      without: ['user_verify_url'],
    },
    {
      name: 'a new API client',
      path: '/settings',
      fill: (page) => page.getByLabel('New client').fill('Agent'),
      submit: 'Create',
    },
    {
      name: 'a new operator',
      path: '/settings',
      fill: (page) => page.getByLabel('New operator').fill('grace@acme.example'),
      submit: 'Create an address',
    },
    {
      name: 'a new webhook endpoint',
      path: '/webhooks',
      fill: async (page) => {
        await page.getByLabel('Address').fill('https://app.acme.example/hooks');
        await page.getByLabel('Events').fill('link.completed');
      },
      submit: 'Add the endpoint',
    },
    {
      name: 'a new MCP server',
      path: '/mcp',
      fill: async (page) => {
        const form = page.locator('form', { has: page.getByRole('button', { name: 'Create', exact: true }) });
        await form.getByLabel('Name', { exact: true }).fill('Agents');
        await form.getByRole('checkbox', { name: 'acme-notes', exact: true }).check();
        await form.getByRole('checkbox', { name: 'github-named', exact: true }).check();
        await form.getByLabel('Tools of github-named').fill('github_get_issue');
      },
      submit: 'Create',
      // The form has these fields only for connections to MCP servers. For other connections, it sends null.
      without: ['mappings.0.resources', 'mappings.0.prompts', 'mappings.1.resources', 'mappings.1.prompts'],
    },
    {
      name: 'the client of a connection',
      path: '/connections/github',
      fill: async (page) => {
        await page.getByLabel('Client secret').fill('secret');
        await page.getByLabel('Other scopes').fill('admin:org');
      },
      submit: 'Save',
    },
    { name: 'the requests of a connection', path: '/connections/github', submit: 'Save' },
    {
      name: 'a new connection',
      path: '/connections/new?provider=github',
      submit: 'Choose GitHub account',
      without: ['connector', 'type'],
    },
    {
      name: 'a link for an account',
      path: '/accounts?connect=acme-notes',
      submit: 'Create a link to send',
      without: ['user_verify_url'],
    },
    {
      name: 'an account that is stored',
      path: '/accounts?connect=warehouse',
      fill: async (page) => {
        await page.getByText('you store them').waitFor();
        for (const input of await page.locator('dialog form input').all())
          if ((await input.inputValue()) === '') await input.fill('value');
      },
      submit: 'Store the account',
    },
    {
      name: 'an overlay',
      path: '/overlays/github_create_issue',
      fill: async (page) => {
        await page.getByLabel('Name', { exact: true }).fill('report_bug');
        await page.getByLabel('Title', { exact: true }).fill('Report a bug');
        await page.getByLabel('Words to add to the description').fill('For bugs.');
        await page.getByLabel('owner', { exact: true }).selectOption('preset');
        await page.getByLabel('Value of owner').fill('acme');
      },
      submit: 'Save the overlay',
    },
    {
      name: 'a token of an MCP session',
      path: '/mcp',
      fill: async (page) => {
        await page.getByText('A token for one user').first().click();
        await page.getByLabel('User id').first().fill('ada');
        await page.getByLabel('Identifier of the account').first().fill('ada');
      },
      submit: 'Create a token',
      without: ['server_id'],
    },
    {
      name: 'an import',
      path: '/import',
      fill: async (page) => {
        await page.getByLabel('Provider').fill('acme-desk');
        await page.getByLabel('Or paste the document').fill('openapi: 3.1.0');
        await page.getByLabel('Base URL').fill('https://api.acme.example');
      },
      submit: 'Preview',
      without: ['apply'],
    },
  ];

  for (const { name, path, fill, submit, without = [] } of forms) {
    it(`names the fields of ${name} by their labels, and marks them`, async () => {
      const { page, go } = await world.logIn();
      await go(path.replace(/^\/connections\/github$/, `/connections/${github}`));
      await fill?.(page);
      await refuseEverything(page);
      const buttons = page.getByRole('button', { name: submit, exact: true });
      await (name === 'the requests of a connection' ? buttons.last() : buttons.first()).click();
      const list = page.getByRole('alert').locator('li');
      await list.first().waitFor();
      const labels = (await page.evaluate(LABELS)) as string[];
      const shown = await Promise.all(
        (await list.all()).map(async (item) => ({
          field: await item.locator('b').getAttribute('title'),
          label: await item.locator('b').innerText(),
        })),
      );
      const unnamed = shown.filter(({ field, label }) => !labels.includes(label) && !without.includes(field ?? ''));
      expect(unnamed).to.deep.equal([]);
      expect(shown.length).to.be.above(without.filter((field) => shown.some((each) => each.field === field)).length);
      expect(await page.evaluate(INVALID)).to.be.above(0);
      expect(await page.evaluate(NOT_DESCRIBED), 'errors at the fields').to.deep.equal([]);
      expect(await violations(page)).to.deep.equal([]);
      await page.context().close();
    });
  }

  it('shows an error at its field, and leads there from the list', async () => {
    const { page, go } = await world.logIn({ viewport: { width: 320, height: 640 } });
    await go('/webhooks');
    await page.getByLabel('Address').fill('http://app.acme.example/hooks');
    await page.getByRole('button', { name: 'Add the endpoint' }).click();
    const field = page.locator('.field', { has: page.getByLabel('Address') });
    await field.locator('.field-error', { hasText: /\w/ }).waitFor();
    await page.getByRole('alert').getByRole('button', { name: 'Address' }).click();
    expect(await page.evaluate('document.activeElement.name')).to.equal('url');
    await page.getByLabel('Address').fill('https://app.acme.example/hooks');
    await page.getByRole('button', { name: 'Add the endpoint' }).click();
    await page.getByText('The endpoint was added.').waitFor();
    expect(await field.locator('.field-error').innerText()).to.equal('');
    expect(await page.evaluate(INVALID)).to.equal(0);
    await page.context().close();
  });

  it('marks the pasted document, and not the files, if the document cannot be parsed', async () => {
    const { page, go } = await world.logIn();
    await go('/import');
    await page.getByLabel('Provider').fill('acme-desk');
    await page.getByLabel('Or paste the document').fill('{"openapi":"3');
    await page.getByRole('button', { name: 'Preview' }).click();
    await page.locator('.trouble b', { hasText: 'Or paste the document' }).waitFor();
    expect(await page.getByLabel('Or paste the document').getAttribute('aria-invalid')).to.equal('true');
    expect(await page.evaluate(INVALID)).to.equal(1);
    await page.context().close();
  });
});
