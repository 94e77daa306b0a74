import { expect } from 'chai';
import type { Page, Request, Route } from 'playwright-core';
import { type JsonObject, objectAt } from '../../scripts/openapi-document.ts';
import { contract } from '../contract/contract.ts';
import { fillConsole } from './support/console-data.ts';
import { CONSOLE_PAGES } from './support/console-pages.ts';
import { type ConsoleWorld, startConsoleWorld } from './support/console-world.ts';

/** Ends an attribute and a tag, and begins an element that no page has. */
const MARKUP = `"'><x-attack></x-attack>`;
const SCRIPT = 'javascript:window.attacked=1//';

const DATE = /^\d{4}-\d\d-\d\dT/;
const COLOR = /^#[0-9a-f]{6}$/;
/** Values of an enumeration, which the contract restricts. */
const ENUM = /^[A-Z][A-Z0-9_]*$/;
const ADDRESS = /^[a-z]+:\/\//;
/** In a schema only titles and descriptions are changed. Other texts have a meaning, such as types and patterns. */
const SCHEMA = /_schema$/;
const TEXT_OF_SCHEMA = /^(title|description)$/;

/** Adds markup to every text of a response, and makes every address one that would run a script. */
function poison(value: unknown, name = '', isInSchema = false): unknown {
  if (Array.isArray(value)) return value.map((item) => poison(item, name, isInSchema));
  if (typeof value === 'object' && value !== null) {
    const inSchema = isInSchema || SCHEMA.test(name);
    return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, poison(part, key, inSchema)]));
  }
  if (typeof value !== 'string' || name === 'next_page_token') return value;
  if (DATE.test(value) || COLOR.test(value) || ENUM.test(value)) return value;
  if (isInSchema && !TEXT_OF_SCHEMA.test(name)) return value;
  return `${ADDRESS.test(value) ? SCRIPT : value}${MARKUP}`;
}

/** Lists that are empty in the environment of the test, and their examples in the contract. */
const EXAMPLES: Record<string, string> = {
  '/api/v1/revocations': 'revocationPage',
  '/api/v1/mcp/grants': 'mcpGrantPage',
  '/api/v1/connected_accounts:refresh_statistics': 'refreshesByOutcome',
};

function exampleFor(url: string): JsonObject | undefined {
  const name = EXAMPLES[new URL(url).pathname];
  if (name === undefined) return undefined;
  const example = objectAt(objectAt(objectAt(contract, 'components'), 'examples'), name);
  return { ...objectAt(example, 'value'), next_page_token: '' };
}

/** Counts what must not be in a page: the element, and addresses that run a script. */
const INJECTED = `document.querySelectorAll('x-attack, [href^="javascript:"], [src^="javascript:"]').length`;

describe('every text of the API in the console', () => {
  let world: ConsoleWorld;
  let details: string[];

  before(async () => {
    world = await startConsoleWorld();
    const { accountId, executionId } = await fillConsole(world);
    const { connections } = (await world.server.call('GET', '/api/v1/connections')).body;
    const { webhook_endpoints: endpoints } = (await world.server.call('GET', '/api/v1/webhook_endpoints')).body;
    details = [
      `/accounts/${accountId}`,
      '/accounts?view=revocations',
      '/tools/acme_notes_get_note',
      '/tools?query=find%20an%20issue',
      '/overlays/github_create_issue',
      `/executions/${executionId}`,
      '/connections/new',
      '/connections/new?provider=github',
      ...connections.map(({ id }: { id: string }) => `/connections/${id}`),
      `/webhooks/${endpoints[0].id}`,
    ];
  });
  after(() => world.stop());

  /** Poisons the responses that a page receives. @returns a function that waits until no response is outstanding */
  async function poisonResponses(page: Page): Promise<() => Promise<void>> {
    const handled: Promise<void>[] = [];
    const answer = async (route: Route, request: Request) => {
      // The page uses poisoned values in its requests too.
      const url = request.url().replaceAll(encodeURIComponent(MARKUP), '').replaceAll(`%22'%3E`, '');
      const response = await route.fetch({ url });
      const isJson = response.headers()['content-type']?.includes('json');
      if (isJson) await route.fulfill({ response, json: poison(exampleFor(url) ?? (await response.json())) });
      else await route.fulfill({ response });
    };
    await page.route('**/api/v1/**', (route, request) => {
      if (request.url().includes(':stream')) return route.continue();
      const done = answer(route, request);
      handled.push(done);
      return done;
    });
    return async () => {
      for (let known = -1; known !== handled.length; ) {
        known = handled.length;
        await Promise.all(handled);
        await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
      }
    };
  }

  it('is shown as text on every page, whichever field it is in', async () => {
    const { page, go, complaints } = await world.logIn();
    const settle = await poisonResponses(page);
    // The form of an import shows nothing of the API.
    for (const path of [...CONSOLE_PAGES, ...details].filter((each) => each !== '/import')) {
      await go(path);
      await page.getByText('<x-attack>').first().waitFor({ state: 'attached' });
      await settle();
      for (const button of await page.getByRole('button', { name: 'Details', exact: true }).all()) await button.click();
      for (const summary of await page.locator('summary').all()) await summary.click();
      await settle();
      expect(await page.evaluate(INJECTED), path).to.equal(0);
      expect(await page.getByText('The request failed').count(), path).to.equal(0);
    }
    expect(await page.evaluate('window.attacked')).to.equal(undefined);
    expect(complaints).to.deep.equal([]);
    await page.context().close();
  });

  it('would have been noticed as an element (control)', async () => {
    const { page } = await world.logIn();
    await page.evaluate(`document.querySelector('main').innerHTML = '<p>' + ${JSON.stringify(MARKUP)} + '</p>'`);
    expect(await page.evaluate(INJECTED)).to.equal(1);
    await page.evaluate(`document.querySelector('main').innerHTML = '<a href="javascript:1">a</a>'`);
    expect(await page.evaluate(INJECTED)).to.equal(1);
    await page.context().close();
  });
});
