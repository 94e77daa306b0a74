import { freePort } from '../../scripts/demo/process.ts';
import type { AuthorizationServer } from './authorization-server.ts';
import type { BrowserPage } from './browser.ts';
import { hiddenFields, TestBrowser } from './browser.ts';
import { API_KEY_PATTERN, createConnection, createProvider } from './providers.ts';
import type { TestResponse, TestServer, TestServerOptions } from './server.ts';
import { startTestServer } from './server.ts';

/** The page of the test application that verifies its users. Nothing listens there; tests only check the address. */
export const VERIFY_URL = 'https://app.example/verify';

/** Starts a server whose links point to itself, and whose environment redirects users to the test application. */
export async function startLinkServer(options: TestServerOptions = {}): Promise<TestServer> {
  const port = await freePort();
  const env = { PORT: String(port), METRICS_PORT: '0', BASE_URL: `http://127.0.0.1:${port}`, ...options.env };
  const server = await startTestServer({ ...options, env });
  await allowVerifyUrls(server, VERIFY_URL);
  return server;
}

export async function allowVerifyUrls(server: TestServer, ...urls: string[]): Promise<void> {
  const answer = await server.call('PUT', '/api/v1/environment', { body: { user_verify_urls: urls } });
  if (answer.status !== 200) throw new Error(`environment was not changed: ${answer.text}`);
}

let made = 0;

export interface LinkOptions {
  connector?: string;
  identifier?: string;
  user_id?: string;
  id?: string;
  state?: string;
  user_verify_url?: string;
}

/** Requests a link, by default for a new user. */
export async function requestLink(server: TestServer, options: LinkOptions): Promise<TestResponse> {
  made += 1;
  const owner = options.id ? {} : { user_id: `user-${made}`, identifier: `person-${made}@app.example` };
  const body = { ...owner, user_verify_url: VERIFY_URL, ...options };
  return server.call('POST', '/api/v1/connected_accounts/magic_link', { body });
}

/** Creates a link, and checks that this succeeded. */
export async function makeLink(server: TestServer, options: LinkOptions): Promise<string> {
  const answer = await requestLink(server, options);
  if (answer.status !== 200) throw new Error(`no link was made: ${answer.text}`);
  return answer.body.link;
}

/** Creates a provider with an API key, which users type on the page of a link. @returns the connector */
export async function keyConnector(server: TestServer): Promise<string> {
  return (await createProvider(server, { auth_patterns: [API_KEY_PATTERN] })).identifier;
}

/** Opens a link and submits its form. */
export async function submitLink(
  browser: TestBrowser,
  link: string,
  fields: Record<string, string> = {},
  headers: Record<string, string> = {},
): Promise<BrowserPage> {
  const page = await browser.open(link);
  const typed = Object.entries(fields).map(([name, value]) => [`field_${name}`, value]);
  return browser.submit(link, { ...hiddenFields(page), ...Object.fromEntries(typed) }, headers);
}

/** Types a key on the page of a link. @returns the parameters that the application then receives */
export async function typeKey(link: string, key = 'secret-typed-key', browser = new TestBrowser()) {
  const page = await submitLink(browser, link, { api_key: key });
  return returned(page);
}

/** Returns the parameters with which the user is redirected to the application. */
export function returned(page: Pick<BrowserPage, 'location' | 'status' | 'text'>) {
  const url = new URL(page.location ?? fail(page));
  if (`${url.origin}${url.pathname}` !== VERIFY_URL) throw new Error(`sent to ${url.origin}${url.pathname}`);
  return { authRequestId: url.searchParams.get('auth_request_id') ?? '', state: url.searchParams.get('state') };
}

function fail({ status, text }: Pick<BrowserPage, 'status' | 'text'>): never {
  throw new Error(`the page leads nowhere: ${status} ${/<h1>(.*)<\/h1>/.exec(text)?.[1]}`);
}

export function verifyUser(
  server: Pick<TestServer, 'call'>,
  authRequestId: string,
  identifier: string,
  more: Record<string, unknown> = {},
): Promise<TestResponse> {
  const body = { auth_request_id: authRequestId, identifier, ...more };
  return server.call('POST', '/api/v1/connected_accounts/user/verify', { body });
}

/** Returns the account of an identifier, as lists show it; undefined if there is none. */
export async function accountOf(server: TestServer, identifier: string) {
  const query = new URLSearchParams({ identifier });
  const { body } = await server.call('GET', `/api/v1/connected_accounts?${query}`);
  return body.connected_accounts[0] as { id: string; status: string; status_reason: string } | undefined;
}

/** Creates a provider and a connection for an authorization server. @returns the name of the connection, and its id */
export async function consentConnector(
  server: TestServer,
  as: AuthorizationServer,
  { config = {}, connection = {} }: { config?: object; connection?: Record<string, unknown> } = {},
): Promise<{ connector: string; connectionId: string }> {
  const { identifier } = await createProvider(server, {
    display_name: 'Acme Files',
    auth_patterns: [as.pattern(config)],
  });
  made += 1;
  const client = { client_id: `client-${made}`, client_secret: `secret-of-client-${made}` };
  const { id, key_id: connector } = await createConnection(server, { connector: identifier, ...client, ...connection });
  await as.register({ ...client, redirect_uris: [`${server.origin}/oauth/callback/${id}`] });
  return { connector, connectionId: id };
}

/** A browser that opens the hosts of authorization servers at their real addresses. */
export function browserFor(...servers: AuthorizationServer[]): TestBrowser {
  return new TestBrowser({ hosts: Object.fromEntries(servers.map(({ issuer, target }) => [issuer, target])) });
}

/** Opens a link and continues to the provider. @returns its sign-in page */
export async function reachSignIn(
  browser: TestBrowser,
  link: string,
  fields: Record<string, string> = {},
): Promise<BrowserPage> {
  return browser.follow(await submitLink(browser, link, fields));
}

/** Signs in and consents, or declines. @returns the page that redirects to the callback with the code */
export async function consent(browser: TestBrowser, page: BrowserPage, login: string | null): Promise<BrowserPage> {
  const answer: Record<string, string> = login === null ? { answer: 'deny' } : { answer: 'allow', login };
  const sent = await browser.submit(page.url, answer);
  return browser.follow(sent, (url) => url.pathname.startsWith('/oauth/callback/'));
}

/** Completes a link as a user: opens it, consents, and returns. @returns the page of the callback */
export async function walk(browser: TestBrowser, link: string, login: string | null = 'alice'): Promise<BrowserPage> {
  const leading = await consent(browser, await reachSignIn(browser, link), login);
  return browser.open(leading.location as string);
}

/**
 * Connects an account of a user through consent at the provider, from the link to the verification.
 *
 * @returns the account
 */
export async function connectUser(server: TestServer, browser: TestBrowser, connector: string, user: string) {
  const link = await makeLink(server, { connector, user_id: user, identifier: user });
  const { authRequestId } = returned(await walk(browser, link, user));
  const verified = await verifyUser(server, authRequestId, user);
  if (verified.status !== 200) throw new Error(`the user was not verified: ${verified.text}`);
  const account = await accountOf(server, user);
  if (!account) throw new Error(`${user} has no account`);
  return account;
}
