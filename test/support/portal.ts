import { type BrowserPage, TestBrowser } from './browser.ts';
import { KEYED_ORIGIN } from './keyed-api.ts';
import { allowVerifyUrls, VERIFY_URL } from './links.ts';
import { ADA, type LoginWorld, startLoginWorld } from './mcp-login.ts';
import { createProvider } from './providers.ts';
import type { TestResponse, TestServer, TestServerOptions } from './server.ts';
import { json, startUpstream } from './upstream.ts';

export const RETURN_URL = 'https://app.example/settings';
/** The owner of the accounts of `ADA`. */
export const OWNER = { organization_id: ADA.organization_id, user_id: ADA.user_id };

/** A server with users who have accounts, agents and a portal. */
export interface PortalWorld extends Omit<LoginWorld, 'stop'> {
  /** Creates a portal session, by default for Ada. */
  session(body?: Record<string, unknown>): Promise<TestResponse>;
  /** Creates a session and opens it. @returns the portal */
  enter(browser?: TestBrowser, body?: Record<string, unknown>): Promise<BrowserPage>;
  /** Presses the button of a form of the portal. */
  press(
    browser: TestBrowser,
    page: BrowserPage,
    action: string,
    headers?: Record<string, string>,
  ): Promise<BrowserPage>;
  /** Creates an account of a custom provider with an API key, by default for Ada. */
  account(
    owner?: Record<string, string>,
    provider?: Record<string, unknown>,
  ): Promise<{ id: string; provider: string }>;
  stop(): Promise<void>;
}

export async function startPortalWorld(options: TestServerOptions = {}): Promise<PortalWorld> {
  const upstream = await startUpstream((_request, res) => json(res, 200, { secret: 'content of a call' }));
  const env = { VALETKEY_ENDPOINT_OVERRIDES: upstream.endpointOverride(KEYED_ORIGIN), ...options.env };
  const world = await startLoginWorld({ ...options, env });
  const { server } = world;
  await allowVerifyUrls(server, VERIFY_URL);
  const session = (body: Record<string, unknown> = {}) =>
    server.call('POST', '/api/v1/portal_sessions', { body: { ...ADA, user_verify_url: VERIFY_URL, ...body } });
  return {
    ...world,
    session,
    async enter(browser = new TestBrowser(), body = {}) {
      const { status, body: created, text } = await session(body);
      if (status !== 201) throw new Error(`no session was created: ${text}`);
      return browser.follow(await browser.open(created.url));
    },
    press: (browser, page, action, headers) =>
      browser.submit(`${server.origin}${action}`, { form_token: formToken(page, action) }, headers),
    account: (owner = {}, provider = {}) => ownedAccount(server, { ...ADA, ...owner }, provider),
    async stop() {
      await world.stop();
      await upstream.stop();
    },
  };
}

/** Returns the token of the form with an address. */
export function formToken({ text }: Pick<BrowserPage, 'text'>, action: string): string {
  const form = text.split('<form ').find((part) => part.includes(`action="${action}"`));
  const token = /name="form_token" value="([^"]+)"/.exec(form ?? '')?.[1];
  if (token === undefined) throw new Error(`no form leads to ${action}`);
  return token;
}

async function ownedAccount(server: TestServer, owner: Record<string, string>, more: Record<string, unknown>) {
  const { identifier: provider } = await createProvider(server, {
    proxy_enabled: true,
    proxy_url: KEYED_ORIGIN,
    ...more,
  });
  const details = { static_auth: { details: { api_key: 'acme-key-of-ada-0123' } } };
  const { status, body, text } = await server.call('POST', '/api/v1/connected_accounts', {
    body: { connector: provider, ...owner, connected_account: { authorization_details: details } },
  });
  if (status !== 201) throw new Error(`the account was not created: ${text}`);
  return { id: body.connected_account.id as string, provider };
}
