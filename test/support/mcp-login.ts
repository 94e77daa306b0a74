import { createHash } from 'node:crypto';
import { freePort } from '../../scripts/demo/process.ts';
import { type BrowserPage, hiddenFields, TestBrowser } from './browser.ts';
import { type DocumentHost, startDocumentHost } from './client-document.ts';
import { type TestClock, testClock } from './clock.ts';
import { createConnection } from './providers.ts';
import { startTestServer, type TestResponse, type TestServer, type TestServerOptions } from './server.ts';

/** The login page of the application. Nothing listens there; tests only check the address. */
const LOGIN_URL = 'https://app.example/agents/login';
export const REDIRECT_URI = 'https://client.example/callback';
export const VERIFIER = 'verifier-0123456789-0123456789-0123456789-01';
export const CHALLENGE = challengeOf(VERIFIER);
export const ADA = { organization_id: 'org_acme', user_id: 'user_ada', identifier: 'ada@acme.test' };

export function challengeOf(verifier: string): string {
  return createHash('sha256').update(verifier).digest('base64url');
}

/** A server whose users log in for MCP clients, a client with a document, and the steps of a login. */
export interface LoginWorld {
  server: TestServer;
  clock: TestClock;
  documents: DocumentHost;
  /** The id of a connection to GitHub, for whose MCP server users log in. */
  serverId: string;
  /** The address of that server. */
  resource: string;
  /** Starts a login. Parameters that are null are left out. */
  authorize(browser: TestBrowser, parameters?: Record<string, string | null>): Promise<BrowserPage>;
  /** Completes a login, as the application does. */
  complete(loginRequest: string, user?: object): Promise<TestResponse>;
  /**
   * Runs a login from the authorization request to the consent page, or to its redirect if there is no consent page.
   */
  reachConsent(browser: TestBrowser, parameters?: Record<string, string | null>, user?: object): Promise<BrowserPage>;
  /** Runs the whole login. @returns the code */
  login(parameters?: Record<string, string | null>, user?: object, browser?: TestBrowser): Promise<string>;
  /** Sends a form to the token endpoint, as the client with the document. */
  token(form: Record<string, string | null>, headers?: Record<string, string>): Promise<TestResponse>;
  /** Exchanges a code, by default as the client with the document. */
  exchange(code: string, form?: Record<string, string | null>): Promise<TestResponse>;
  refresh(refreshToken: string, form?: Record<string, string | null>): Promise<TestResponse>;
  /** Runs the whole login and the exchange. @returns the token response */
  tokens(parameters?: Record<string, string | null>, user?: object): Promise<Tokens>;
  /** Lists the tools of the MCP server with a token. @returns the response */
  listTools(accessToken: string, serverId?: string): Promise<TestResponse>;
  grants(query?: string): Promise<{ id: string; [member: string]: unknown }[]>;
  /** Registers a client dynamically. */
  register(metadata?: object): Promise<TestResponse>;
  stop(): Promise<void>;
}

export interface Tokens {
  access_token: string;
  refresh_token: string;
  expires_in: number;
  scope: string;
}

export async function startLoginWorld(options: TestServerOptions = {}): Promise<LoginWorld> {
  const documents = await startDocumentHost([REDIRECT_URI, 'http://127.0.0.1/callback']);
  const clock = testClock();
  const port = await freePort();
  const server = await startTestServer({
    ...options,
    env: {
      PORT: String(port),
      METRICS_PORT: '0',
      BASE_URL: `http://127.0.0.1:${port}`,
      ...options.env,
      VALETKEY_ENDPOINT_OVERRIDES: [documents.override, options.env?.['VALETKEY_ENDPOINT_OVERRIDES']]
        .filter((override) => override !== undefined)
        .join(','),
    },
    overrides: { now: clock.now, ...options.overrides },
  });
  const changed = await server.call('PUT', '/api/v1/environment', { body: { mcp_login_url: LOGIN_URL } });
  if (changed.status !== 200) throw new Error(`the environment was not changed: ${changed.text}`);
  const serverId = (await createConnection(server)).id as string;
  const resource = `${server.origin}/mcp/${serverId}`;

  const world: LoginWorld = {
    server,
    clock,
    documents,
    serverId,
    resource,
    authorize: (browser, parameters = {}) => {
      const query = formOf({
        response_type: 'code',
        client_id: documents.clientId,
        redirect_uri: REDIRECT_URI,
        code_challenge: CHALLENGE,
        code_challenge_method: 'S256',
        state: 'state-of-the-client',
        resource,
        ...parameters,
      });
      return browser.open(`${server.origin}/oauth/authorize?${query}`);
    },
    complete: (login_request, user = ADA) =>
      server.call('POST', '/api/v1/mcp/logins:complete', { body: { login_request, ...user } }),
    async reachConsent(browser, parameters, user) {
      const page = await world.authorize(browser, parameters);
      const answer = await world.complete(loginRequestOf(page), user);
      if (answer.status !== 200) throw new Error(`the login was not completed: ${answer.text}`);
      return browser.follow(await browser.open(answer.body.continue_url), (url) => url.origin !== server.origin);
    },
    async login(parameters, user, browser = new TestBrowser()) {
      const page = await world.reachConsent(browser, parameters, user);
      return codeOf(page.location ? page : await allow(browser, page));
    },
    token: (form, headers = {}) =>
      server.call('POST', '/oauth/token', {
        token: null,
        body: formOf({ client_id: documents.clientId, ...form }),
        headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
      }),
    exchange: (code, form = {}) =>
      world.token({
        grant_type: 'authorization_code',
        code,
        code_verifier: VERIFIER,
        redirect_uri: REDIRECT_URI,
        resource,
        ...form,
      }),
    refresh: (refresh_token, form = {}) => world.token({ grant_type: 'refresh_token', refresh_token, ...form }),
    async tokens(parameters, user) {
      const answer = await world.exchange(await world.login(parameters, user));
      if (answer.status !== 200) throw new Error(`the code was not exchanged: ${answer.text}`);
      return answer.body;
    },
    listTools: (accessToken, id = serverId) => callMcp(server, id, accessToken, 'tools/list'),
    async grants(query = '') {
      return (await server.call('GET', `/api/v1/mcp/grants${query}`)).body.grants;
    },
    register: (metadata = {}) =>
      server.call('POST', '/oauth/register', {
        token: null,
        body: {
          client_name: 'Dynamic Client',
          redirect_uris: ['http://127.0.0.1/callback'],
          grant_types: ['authorization_code', 'refresh_token'],
          token_endpoint_auth_method: 'none',
          ...metadata,
        },
      }),
    async stop() {
      await server.stop();
      await documents.stop();
    },
  };
  return world;
}

/** A request of the revision 2025-11-25 without a session. */
export function callMcp(
  server: Pick<TestServer, 'call'>,
  serverId: string,
  token: string | null,
  method: string,
  params: object = {},
  headers: Record<string, string> = {},
): Promise<TestResponse> {
  return server.call('POST', `/mcp/${serverId}`, {
    token,
    body: { jsonrpc: '2.0', id: 1, method, params },
    headers: { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-11-25', ...headers },
  });
}

/** Submits the form of a consent page. */
export function allow(browser: TestBrowser, page: BrowserPage, decision = 'allow'): Promise<BrowserPage> {
  return browser.submit(page.url, { ...hiddenFields(page), decision });
}

export function loginRequestOf(page: BrowserPage): string {
  const url = URL.parse(page.location ?? '');
  const request = url?.searchParams.get('login_request');
  if (!request || `${url?.origin}${url?.pathname}` !== LOGIN_URL)
    throw new Error(`no login: ${page.status} ${page.text}`);
  return request;
}

/** Returns the parameters of the redirect to the client. */
export function responseOf(page: BrowserPage): Record<string, string> {
  if (!page.location) throw new Error(`the page leads nowhere: ${page.status} ${page.text}`);
  return Object.fromEntries(new URL(page.location).searchParams);
}

export function codeOf(page: BrowserPage): string {
  const { code, error } = responseOf(page);
  if (!code) throw new Error(`no code: ${error}`);
  return code;
}

function formOf(parameters: Record<string, string | null>): string {
  const given = Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] !== null);
  return new URLSearchParams(given).toString();
}
