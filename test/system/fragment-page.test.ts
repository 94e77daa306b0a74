import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { execute } from '../support/execute.ts';
import { accountOf, allowVerifyUrls, makeLink, startLinkServer } from '../support/links.ts';
import { BOARD, type Board, KEY, startBoard } from '../support/oauth1-server.ts';
import { createConnection, createProvider } from '../support/providers.ts';
import type { TestServer } from '../support/server.ts';
import { makeCertificate } from '../support/tls/certificates.ts';
import { DESK, focused, launch, openPage, PHONE, startVerifyingApp, violations } from './support/connect-browser.ts';

describe('the page that reads a token from its address, in a browser', () => {
  let board: Board;
  let front: Server;
  let server: TestServer;
  let app: Awaited<ReturnType<typeof startVerifyingApp>>;
  let browser: Browser;
  let made = 0;
  const connectors = { yes: '', no: '' };

  before(async () => {
    board = await startBoard(Date.now, 'http://127.0.0.1:');
    front = await startFront(board.port);
    server = await startLinkServer({ env: { VALETKEY_ENDPOINT_OVERRIDES: board.override } });
    app = await startVerifyingApp(() => server);
    await allowVerifyUrls(server, app.url);
    for (const says of ['yes', 'no'] as const) connectors[says] = await connectorOf(says);
    browser = await launch({ [new URL(BOARD).host]: (front.address() as AddressInfo).port });
  });
  after(async () => {
    await browser?.close();
    app?.stop();
    await server?.stop();
    front?.close();
    await board?.stop();
  });

  async function connectorOf(says: string): Promise<string> {
    const { identifier } = await createProvider(server, {
      display_name: 'Kanban',
      proxy_enabled: true,
      proxy_url: `${BOARD}/api`,
      auth_patterns: [{ type: 'BOARD_OAUTH1', oauth_config: byFragment(says) }],
    });
    return (await createConnection(server, { connector: identifier, client_id: KEY })).key_id;
  }

  /** Opens the page as a user. If its script runs, the page continues by itself. */
  async function arrive(options: BrowserContextOptions = {}, says: 'yes' | 'no' = 'yes', holdScript = false) {
    made += 1;
    const identifier = `person-${made}`;
    const owner = { identifier, user_id: identifier, state: identifier };
    const link = await makeLink(server, { connector: connectors[says], user_verify_url: app.url, ...owner });
    const watched = await openPage(browser, options);
    if (holdScript) await watched.page.route('**/connect/assets/fragment.js', (route) => route.abort());
    await watched.page.goto(link);
    await watched.page.getByRole('button', { name: 'Continue to Kanban' }).click();
    return { ...watched, identifier, close: () => watched.page.context().close() };
  }

  const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name }).waitFor();
  const fragmentOf = (page: Page) => new URL(page.url()).hash.replace('#token=', '');

  async function expectWorking(identifier: string): Promise<void> {
    const account = await accountOf(server, identifier);
    expect(account?.status).to.equal('ACTIVE');
    const { body, text } = await execute(server, account?.id ?? '', 'http_get', { path: '/me' });
    expect(body.data?.username, text).to.equal('maria');
  }

  for (const viewport of [PHONE, DESK]) {
    it(`continues by itself if scripts run, ${viewport.width} pixels wide`, async () => {
      const { page, complaints, requested, hosts, identifier, close } = await arrive({ viewport });
      await heading(page, 'Connected');
      await expectWorking(identifier);
      expect(complaints).to.deep.equal([]);
      expect(hosts()).to.have.members([new URL(server.origin).host, new URL(BOARD).host, new URL(app.url).host]);
      const token = /oauth_token="(\w+)"/.exec(board.taken.at(-1)?.headers['authorization'] ?? '')?.[1];
      expect(token).to.be.a('string');
      const ours = requested.filter((url) => url.startsWith(server.origin) && !url.includes('#'));
      expect(ours.join(' '), 'no server is told by an address').not.to.contain(token);
      await close();
    });

    it(`can be completed with the keyboard alone without scripts, ${viewport.width} pixels wide`, async () => {
      const { page, complaints, identifier, close } = await arrive({ viewport, javaScriptEnabled: false });
      await heading(page, 'One step is left');
      await page.keyboard.press('Tab');
      expect(await focused(page)).to.equal('field_token');
      await page.keyboard.insertText(new URL(page.url()).hash);
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      await heading(page, 'Connected');
      await expectWorking(identifier);
      expect(complaints).to.deep.equal([]);
      await close();
    });
  }

  for (const javaScriptEnabled of [true, false]) {
    it(`sends the token to no other page, ${javaScriptEnabled ? 'with' : 'without'} scripts`, async () => {
      const { page, close } = await arrive({ javaScriptEnabled });
      if (!javaScriptEnabled) {
        await heading(page, 'One step is left');
        await page.getByLabel('Token from Kanban').fill(fragmentOf(page));
        await page.getByRole('button').click();
      }
      await heading(page, 'Connected');
      // Browsers keep the fragment in a redirect, unless the new address has its own fragment.
      expect(fragmentOf(page)).to.equal('');
      await close();
    });
  }

  it('reports what is missing, and keeps the token visible so that the user can copy it', async () => {
    const { page, identifier, close } = await arrive({ javaScriptEnabled: false });
    await heading(page, 'One step is left');
    const token = fragmentOf(page);
    await page.getByRole('button', { name: 'Connect' }).click();
    expect(await page.getByRole('alert').innerText()).to.equal('Please fill in the field below.');
    expect(fragmentOf(page)).to.equal(token).and.to.match(/^\w+$/);
    await page.getByLabel('Token from Kanban').fill(token);
    await page.getByRole('button', { name: 'Connect' }).click();
    await heading(page, 'Connected');
    await expectWorking(identifier);
    await close();
  });

  it('reports that the user declined, and offers another attempt', async () => {
    const { page, identifier, close } = await arrive({}, 'no');
    await heading(page, 'Not connected');
    expect(await page.getByRole('link', { name: 'Try again' }).count()).to.equal(1);
    expect((await accountOf(server, identifier))?.status).to.equal('PENDING_AUTH');
    await close();
  });

  it('runs only our script, with any content in the fragment', async () => {
    const { page, complaints, close } = await arrive({}, 'yes', true);
    await heading(page, 'One step is left');
    await page.evaluate(`
      const script = document.createElement('script');
      script.textContent = 'document.title = "taken over"';
      document.body.append(script);`);
    expect(await page.title()).to.equal('Finish connecting Kanban');
    expect(complaints.join('\n')).to.match(/inline script.*violates/i);
    await close();
  });

  for (const colorScheme of ['light', 'dark'] as const) {
    it(`breaks no rule of axe-core, with and without a problem, ${colorScheme}`, async () => {
      for (const viewport of [PHONE, DESK]) {
        const { page, close } = await arrive({ viewport, colorScheme }, 'yes', true);
        await heading(page, 'One step is left');
        for (const problem of [false, true]) {
          if (problem) await page.getByRole('button').click();
          expect(await page.getByRole('alert').count()).to.equal(problem ? 1 : 0);
          expect(await violations(page)).to.deep.equal([]);
          expect(await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth')).to.equal(true);
        }
        await close();
      }
    });
  }
});

function byFragment(says: string) {
  return {
    authorize_uri: `${BOARD}/authorize-by-fragment`,
    return_parameter: 'return_url',
    user_info_uri: `${BOARD}/me`,
    extra_authorize_params: { callback_method: 'fragment', says },
  };
}

/** Starts a TLS proxy in front of the board, because browsers need TLS. */
async function startFront(port: number): Promise<Server> {
  const { cert, key } = makeCertificate({ name: 'board.example', altNames: ['board.example'] });
  const front = createServer({ cert, key }, async (req, res) => {
    const answer = await fetch(`http://127.0.0.1:${port}${req.url}`, { redirect: 'manual' });
    const location = answer.headers.get('location');
    res.writeHead(answer.status, location === null ? {} : { location }).end(await answer.text());
  });
  await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve));
  return front;
}
