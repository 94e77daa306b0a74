import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser } from 'playwright-core';
import { MCP_LOGIN } from '../../../../core/budgets.ts';
import { freePort } from '../../../../scripts/demo/process.ts';
import { testClock } from '../../../support/clock.ts';
import { startTestServer, type TestServer } from '../../../support/server.ts';
import { json, startUpstream, type Upstream } from '../../../support/upstream.ts';
import { launch, openPage } from '../connect-browser.ts';
import { addNotes } from '../console-data.ts';
import { startModel } from './model.ts';

/** The tool of the server, its input, and what its result contains. */
export const TOOL = { name: 'acme_notes_get_note', input: { number: 7 }, result: 'Water the plants' };

/** The metadata document of Claude Code; its URL is its client id. */
const CLAUDE_CODE = {
  client_id: 'https://claude.ai/oauth/claude-code-client-metadata',
  client_name: 'Claude Code',
  client_uri: 'https://claude.ai',
  redirect_uris: ['http://localhost/callback', 'http://127.0.0.1/callback'],
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  token_endpoint_auth_method: 'none',
};

/** The user whom the application identifies at each login. */
const ADA = { user_id: 'user_ada', identifier: 'ada@acme.example' };

/** A server with one tool and an account that it runs with, an application that identifies its user, and a browser. */
export interface ClientsWorld {
  server: TestServer;
  /** The application of a third party that the tool reads. */
  upstream: Upstream;
  /** The model of those clients that are agents. */
  model: Upstream;
  /** The address of the MCP server, which is the only setting of a client. */
  address: string;
  /** The number of logins that the application has completed. */
  logins(): number;
  /**
   * Logs the user in, as a browser that a client opened at this address does, until the page of the client is shown.
   *
   * @param decision the button of the consent page
   * @returns the text of the client's page
   */
  logIn(authorizationUrl: string, decision?: 'Allow' | 'Cancel'): Promise<string>;
  /** Lets every access token expire. */
  expire(): void;
  /** The time in milliseconds that the clock of the server was moved by. */
  aheadMs(): number;
  stop(): Promise<void>;
}

export async function startClientsWorld(): Promise<ClientsWorld> {
  const upstream = await startUpstream(({ target }, res) => json(res, 200, { path: target, name: TOOL.result }));
  const documents = await startUpstream((_request, res) => json(res, 200, CLAUDE_CODE));
  const model = await startModel(TOOL.name, TOOL.input);
  const clock = testClock();
  const began = clock.now();
  const port = await freePort();
  const server = await startTestServer({
    env: {
      PORT: String(port),
      METRICS_PORT: '0',
      BASE_URL: `http://127.0.0.1:${port}`,
      VALETKEY_EGRESS_ALLOW: `127.0.0.1:${upstream.port}`,
      VALETKEY_ENDPOINT_OVERRIDES: documents.endpointOverride('https://claude.ai'),
    },
    overrides: { now: clock.now },
  });
  let logins = 0;
  const app = createServer(async (req, res) => {
    const login_request = new URL(req.url ?? '', 'http://localhost').searchParams.get('login_request') ?? '';
    const { body } = await server.call('POST', '/api/v1/mcp/logins:complete', { body: { login_request, ...ADA } });
    logins += 1;
    res.writeHead(302, { location: body.continue_url }).end();
  });
  const mcp_login_url = `${await listen(app)}/login`;
  await server.call('PUT', '/api/v1/environment', { body: { mcp_login_url } });
  await addNotes({ server, upstream });
  const [connection] = (await server.call('GET', '/api/v1/connections')).body.connections;
  const browser = await launch({});
  return {
    server,
    upstream,
    model,
    address: connection.mcp_server_url,
    logins: () => logins,
    logIn: (authorizationUrl, decision = 'Allow') => logIn(browser, server.origin, authorizationUrl, decision),
    expire: () => clock.advance(MCP_LOGIN.accessTokenMs + 60_000),
    aheadMs: () => clock.now() - began,
    async stop() {
      await browser.close();
      app.closeAllConnections();
      app.close();
      await server.stop();
      await Promise.all([upstream.stop(), model.stop(), documents.stop()]);
    },
  };
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function logIn(browser: Browser, origin: string, url: string, decision: string): Promise<string> {
  const { page } = await openPage(browser);
  try {
    await page.goto(url);
    await page.getByRole('button', { name: decision }).click();
    await page.waitForURL((at) => at.origin !== origin);
    return await page.locator('body').innerText();
  } finally {
    await page.context().close();
  }
}
