import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import { CHALLENGE, type LoginWorld, startLoginWorld } from '../support/mcp-login.ts';
import { DESK, launch, openPage, PHONE, violations } from './support/connect-browser.ts';

describe('the login for an MCP client in a browser', () => {
  let world: LoginWorld;
  let browser: Browser;
  let app: Server;
  let client: Server;
  let callback: string;
  let clientId: string;
  const returned: URL[] = [];

  const listen = async (server: Server) => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };

  before(async () => {
    world = await startLoginWorld();
    app = createServer(async (req, res) => {
      const request = new URL(req.url ?? '', 'http://localhost').searchParams.get('login_request') ?? '';
      const { body } = await world.complete(request);
      res.writeHead(302, { location: body.continue_url }).end();
    });
    client = createServer((req, res) => {
      returned.push(new URL(req.url ?? '', callback));
      res.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>Client</title><h1>Back</h1>');
    });
    const mcp_login_url = `${await listen(app)}/login`;
    callback = `${await listen(client)}/callback`;
    await world.server.call('PUT', '/api/v1/environment', { body: { mcp_login_url } });
    clientId = (await world.register({ redirect_uris: ['http://127.0.0.1/callback', 'cursor://any/callback'] })).body
      .client_id;
    browser = await launch({});
  });
  after(async () => {
    await browser?.close();
    for (const server of [app, client]) {
      server?.closeAllConnections();
      server?.close();
    }
    await world?.stop();
  });

  function address(redirect_uri: string): string {
    const query = new URLSearchParams({
      response_type: 'code',
      client_id: clientId,
      redirect_uri,
      code_challenge: CHALLENGE,
      code_challenge_method: 'S256',
      state: 'state-of-the-client',
      resource: world.resource,
    });
    return `${world.server.origin}/oauth/authorize?${query}`;
  }

  for (const javaScriptEnabled of [true, false]) {
    for (const viewport of [PHONE, DESK]) {
      const how = `${javaScriptEnabled ? 'with' : 'without'} JavaScript, ${viewport.width} pixels wide`;

      it(`leads through the application and the consent back to the client, ${how}`, async () => {
        returned.length = 0;
        const { page, complaints } = await openPage(browser, { javaScriptEnabled, viewport });
        await page.goto(address(callback));
        expect(await page.getByRole('heading', { level: 1 }).innerText()).to.equal('Allow access?');
        await page.getByRole('button', { name: 'Allow' }).click();
        await page.getByRole('heading', { name: 'Back' }).waitFor();
        const [last] = returned.filter(({ pathname }) => pathname === '/callback');
        expect(last?.searchParams.get('iss')).to.equal(world.server.origin);
        const code = last?.searchParams.get('code') ?? '';
        const answer = await world.exchange(code, { client_id: clientId, redirect_uri: callback });
        expect(answer.status, answer.text).to.equal(200);
        expect(complaints).to.deep.equal([]);
      });
    }
  }

  it('has a consent page without violations of accessibility rules', async () => {
    const { page } = await openPage(browser, { bypassCSP: true });
    await page.goto(address(callback));
    expect(await violations(page)).to.deep.equal([]);
  });

  it('lets the form redirect to the scheme of an application: no policy blocks it', async () => {
    const { page, complaints } = await openPage(browser);
    await page.goto(address('cursor://any/callback'));
    await page.getByRole('button', { name: 'Allow' }).click();
    // Nothing handles the scheme here, so the browser stays where it is.
    await page.waitForTimeout(500);
    expect(complaints.filter((text) => /form-action|Content Security Policy/.test(text))).to.deep.equal([]);
  });
});
