import type { Express, RequestHandler } from 'express';
import { MCP_LOGIN } from '../../core/budgets.ts';
import { PORTAL_CALLBACK_PATH } from '../../core/mcp-login/addresses.ts';
import { createLoginSlots } from '../../core/mcp-login/login-slots.ts';
import {
  beginProviderLogin,
  finishProviderLogin,
  type ProviderLoginDeps,
} from '../../core/mcp-login/provider-login.ts';
import { type CreateSessionDeps, enterSession } from '../../core/portal/sessions.ts';
import type { LoginProviderRow, Store } from '../../db/store.ts';
import { portalLoginPage } from '../../web/portal/login-page.ts';
import { portalOverPage } from '../../web/portal/over-page.ts';
import { browserCookie } from './browser-cookie.ts';
import { otherMethods } from './express-entry-point.ts';
import type { Page, PageCall, PageReply } from './pages.ts';

export interface PortalLoginDeps extends CreateSessionDeps, ProviderLoginDeps {
  readonly store: Store;
  readonly log: { warn(fields: object, message: string): void };
}

const LOGIN = '/portal/login';
/** Binds a login to the browser in which it began: no other browser has the verifier, the state and the nonce. */
const COOKIE = browserCookie('valetkey-portal-login', (text) => /^[\w-]{1,4000}$/.test(text ?? ''));

/**
 * Adds the login to the portal at the OpenID provider of the environment.
 *
 * @param inside returns the reply for a user who has logged in, with the secret of the session
 * @returns `outside`, which creates the page for a browser without a session: a login page if the environment has an
 * OpenID provider, otherwise a page that says that the session is over
 */
export function addPortalLogin(
  app: Express,
  page: (name: string, serve: Page) => RequestHandler,
  deps: PortalLoginDeps,
  inside: (call: PageCall, secret: string) => PageReply,
): { outside(call: PageCall, failed?: boolean): Promise<PageReply> } {
  const { store, log } = deps;
  const slots = createLoginSlots(deps.now);

  async function providerOf({ environment }: PageCall): Promise<LoginProviderRow | undefined> {
    const provider = await store.read.loginProviders.get(environment.id);
    return provider?.type === 'OIDC' ? provider : undefined;
  }

  async function outside(call: PageCall, failed = false): Promise<PageReply> {
    const { context } = call;
    if (!(await providerOf(call))) return { status: 410, page: portalOverPage(context) };
    return {
      status: failed ? 403 : 200,
      page: portalLoginPage(context, LOGIN, failed),
      cookie: COOKIE.remove(call.environment),
    };
  }

  async function begin(call: PageCall): Promise<PageReply> {
    const { req, environment } = call;
    const provider = await providerOf(call);
    if (!provider || req.method === 'HEAD') return outside(call);
    if (!slots.take(environment.id, call.address)) return outside(call, true);
    const expiresAt = deps.now() + MCP_LOGIN.loginMs;
    const begun = await beginProviderLogin(deps, environment, provider, expiresAt, 'portal');
    if (begun.ok) return { redirect: begun.url, cookie: COOKIE.set(environment, begun.kept) };
    return failed(call, begun.message);
  }

  async function finish(call: PageCall): Promise<PageReply> {
    const { req, environment, requestId } = call;
    const provider = await providerOf(call);
    const kept = COOKIE.read(req, environment);
    if (!provider || kept === undefined || req.method === 'HEAD') return outside(call, true);
    const answer = new URLSearchParams((req.url ?? '').split('?')[1] ?? '');
    const finished = await finishProviderLogin(deps, provider, kept, answer, 'portal');
    if (!finished.ok) return failed(call, finished.message);
    const secret = await enterSession(deps, environment.id, finished.subject, requestId);
    return secret === undefined
      ? failed(call, 'The login provider was changed during the login.')
      : inside(call, secret);
  }

  /** Returns a page with a fixed text: nothing that the provider sent is repeated. */
  function failed(call: PageCall, message: string): Promise<PageReply> {
    log.warn({ request_id: call.requestId, reason: message }, 'a login to the portal failed');
    return outside(call, true);
  }

  app.route(LOGIN).get(page('portalLogin', begin)).all(otherMethods('GET', 'HEAD'));
  app.route(PORTAL_CALLBACK_PATH).get(page('finishPortalLogin', finish)).all(otherMethods('GET', 'HEAD'));
  return { outside };
}
