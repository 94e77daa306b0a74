import type { Express, RequestHandler } from 'express';
import { type ActionDeps, type PortalActions, portalActions } from '../../core/portal/actions.ts';
import { type OverviewDeps, readOverview } from '../../core/portal/overview.ts';
import { formDigest } from '../../core/portal/session-tokens.ts';
import { findSession, openSession, sessionCause } from '../../core/portal/sessions.ts';
import type { PortalSessionRow, Store } from '../../db/store.ts';
import { portalOverPage } from '../../web/portal/over-page.ts';
import { NOTICES, type Notice, portalPage } from '../../web/portal/portal-page.ts';
import { readBody } from '../body/body.ts';
import { PAGE_FORM } from '../body/body-rule.ts';
import type { Pairs } from '../pipeline/query.ts';
import { isCrossOrigin } from '../pipeline/same-origin.ts';
import { browserCookie } from './browser-cookie.ts';
import { otherMethods } from './express-entry-point.ts';
import { linkPageContext, namedContext } from './page-context.ts';
import type { Page, PageCall, PageReply } from './pages.ts';
import { addPortalLogin, type PortalLoginDeps } from './portal-login.ts';
import { portalView, type ViewDeps } from './portal-view.ts';

export type PortalPageDeps = ActionDeps & OverviewDeps & ViewDeps & PortalLoginDeps & { readonly store: Store };

const cookie = browserCookie('valetkey-portal');
const HOME = '/portal';

/** A request of a browser that has a portal session. */
interface SessionCall extends PageCall {
  session: PortalSessionRow;
  secret: string;
}

/** The result of an action: a notice for the portal page, or a URL to redirect the user to. */
type Done = { notice: Notice } | { url: string };

/**
 * Adds the portal: the page that opens a session, the page of the user's accounts, and its forms. No page needs a
 * script.
 *
 * @returns `isInPortal`, which says whether a browser has a portal session. Such a browser returns to the portal after
 * it has finished a link.
 */
export function addPortalPages(
  app: Express,
  page: (name: string, serve: Page) => RequestHandler,
  deps: PortalPageDeps,
): { isInPortal(call: PageCall): Promise<boolean> } {
  const { store, digester } = deps;
  const login = addPortalLogin(app, page, deps, ({ environment }, secret) => ({
    redirect: HOME,
    cookie: cookie.set(environment, secret),
  }));

  async function inSession(call: PageCall): Promise<SessionCall | undefined> {
    const { req, environment, requestId } = call;
    const secret = cookie.read(req, environment);
    const session = await findSession(store.read, deps, environment.id, secret);
    if (!session || secret === undefined) return undefined;
    const context = namedContext(linkPageContext(call.context, req, session), environment);
    return { ...call, context, session, secret, cause: sessionCause(session, environment.id, requestId) };
  }

  async function open({ req, environment, context, requestId }: PageCall, token: string): Promise<PageReply> {
    // A HEAD request must not use up the one-time token.
    if (req.method === 'HEAD') return { status: 410, page: portalOverPage(context) };
    const secret = await openSession(deps, environment.id, token, requestId);
    if (secret === undefined) return { status: 410, page: portalOverPage(context) };
    return { redirect: HOME, cookie: cookie.set(environment, secret) };
  }

  async function show(call: PageCall): Promise<PageReply> {
    const inside = await inSession(call);
    if (!inside) return login.outside(call);
    const { environment, session, secret, context } = inside;
    const overview = await readOverview(deps, environment, session);
    const formToken = (action: string) => formDigest(digester, secret, action).toString('base64url');
    const view = await portalView(deps, environment, session, overview, formToken, noticeOf(call));
    return { status: 200, page: portalPage(context, view) };
  }

  const action = (name: string, act: (actions: PortalActions, id: string) => Promise<Done>): Page => {
    return async (call, { id = '' }) => {
      const inside = await inSession(call);
      if (!inside || !(await isOurForm(inside, `${name} ${id}`))) {
        return { status: inside ? 403 : 410, page: portalOverPage(inside?.context ?? call.context) };
      }
      const { environment, session, cause } = inside;
      const done = await act(portalActions(deps, environment, session, cause), id);
      return { redirect: 'url' in done ? done.url : `${HOME}?done=${done.notice}` };
    };
  };

  async function isOurForm({ req, bodyHold, secret }: SessionCall, name: string): Promise<boolean> {
    const pairs = ((await readBody(req, PAGE_FORM, bodyHold)).value ?? {}) as Pairs;
    const given = Buffer.from(String(pairs['form_token'] ?? ''), 'base64url');
    return !isCrossOrigin(req) && digester.equal(given, formDigest(digester, secret, name));
  }

  async function signOut(call: PageCall): Promise<PageReply> {
    const inside = await inSession(call);
    if (!inside || !(await isOurForm(inside, 'sign_out '))) {
      return { status: inside ? 403 : 410, page: portalOverPage(call.context) };
    }
    const { environment, session, context } = inside;
    await store.write((tx) => tx.portalSessions.delete(environment.id, session.id));
    const gone = cookie.remove(environment);
    if (session.returnUrl !== null) return { redirect: session.returnUrl, cookie: gone };
    return { status: 200, page: portalOverPage(context), cookie: gone };
  }

  const link = (url: string | undefined): Done => (url === undefined ? { notice: 'impossible' } : { url });
  const notice = (isDone: boolean, done: Notice): Done => ({ notice: isDone ? done : 'impossible' });
  const post = (path: string, name: string, serve: Page) =>
    app.route(path).post(page(name, serve)).all(otherMethods('POST'));

  app
    .route('/portal/open/:token')
    .get(page('openPortal', (call, { token = '' }) => open(call, token)))
    .all(otherMethods('GET', 'HEAD'));
  app.route(HOME).get(page('portal', show)).all(otherMethods('GET', 'HEAD'));
  post(
    '/portal/connections/:id/connect',
    'portalConnect',
    action('connect', async (actions, id) => link(await actions.connect(id))),
  );
  post(
    '/portal/accounts/:id/reconnect',
    'portalReconnect',
    action('reconnect', async (actions, id) => link(await actions.reconnect(id))),
  );
  post(
    '/portal/accounts/:id/disconnect',
    'portalDisconnect',
    action('disconnect', async (actions, id) => notice(await actions.disconnect(id), 'disconnected')),
  );
  post(
    '/portal/grants/:id/revoke',
    'portalRevoke',
    action('revoke', async (actions, id) => notice(await actions.revoke(id), 'revoked')),
  );
  post('/portal/sign_out', 'portalSignOut', signOut);
  return { isInPortal: async (call) => (await inSession(call)) !== undefined };
}

/** Returns the notice of the last action from the URL; unknown values are ignored. */
function noticeOf({ req }: PageCall): Notice | undefined {
  const done = new URL(req.url ?? '', 'http://localhost').searchParams.get('done');
  return NOTICES.find((notice) => notice === done);
}
