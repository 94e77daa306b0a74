import { join } from 'node:path';
import type { Express } from 'express';
import express from 'express';
import type { LinkContext } from '../../core/accounts/links/link-context.ts';
import type { LinkDeps } from '../../core/accounts/links/link-deps.ts';
import { type OpenedLink, openLink } from '../../core/accounts/links/open-link.ts';
import type { SealedTokens } from '../../core/vault/sealed-token.ts';
import { connectedPage, expiredPage, usedPage, waitingPage } from '../../web/connect/message-pages.ts';
import type { BodyMemory } from '../body/body-hold.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import type { Pipeline } from '../pipeline/pipeline.ts';
import { addBrandFiles } from './brand-files.ts';
import { createCallback } from './connect-callback.ts';
import { createLinkForm } from './connect-form.ts';
import { before, otherMethods, route } from './express-entry-point.ts';
import { addLoginPages, type LoginPageDeps } from './login-pages.ts';
import { ofRequest } from './page-context.ts';
import { type Page, type PageCall, type PageReply, pageCall, pageReply } from './pages.ts';
import { currentOrigins, endedLinkPage, isInPopup, outcomeReply, type PopupDeps } from './popup.ts';
import { addPortalPages, type PortalPageDeps } from './portal-pages.ts';
import { leaveWithError, returnAfterConnecting } from './return-link.ts';

const ASSETS = join(import.meta.dirname, '../../web/assets');
const ASSET_NAMES: Record<string, string> = {
  'connect.css': 'connect.css',
  'form.js': 'connect-form.js',
  'fragment.js': 'connect-fragment.js',
  'popup.js': 'connect-popup.js',
  'icon.svg': 'connect-icon.svg',
  'portal.css': 'portal.css',
  'read.svg': 'scope-read.svg',
  'write.svg': 'scope-write.svg',
  'delete.svg': 'scope-delete.svg',
};

export type LinkPageDeps = BodyMemory &
  LoginPageDeps &
  PortalPageDeps &
  Omit<LinkDeps, 'sealedFlows'> & {
    /** Encrypts the stored data of a consent flow. */
    sealedData: SealedTokens;
  };

/**
 * Serves the pages for users: the link, the callback from the provider, the result, the login for an MCP client, and
 * the portal.
 *
 * The log contains the name of a page instead of its address, because addresses contain secrets.
 */
export function createConnect(deps: LinkPageDeps, pipeline: Pipeline): Express {
  const linkDeps: LinkDeps = { ...deps, sealedFlows: deps.sealedData };
  const form = createLinkForm(deps, linkDeps);
  const callback = createCallback(linkDeps);
  const app = express();
  app.disable('x-powered-by');

  const page = (name: string, serve: Page) =>
    route(async (exchange, params) => {
      exchange.name = name;
      return pageReply(await serve(pageCall(exchange, deps), params), exchange);
    });
  const ofLink = (use: (call: PageCall, link: LinkContext, token: string) => PageReply | Promise<PageReply>): Page => {
    return async (call, { token = '' }) => {
      const opened = await openLink(linkDeps, call.environment, token);
      return opened.kind === 'open' ? use(call, opened.link, token) : ended(linkDeps, call, opened);
    };
  };

  app
    .route('/connect/assets/:name')
    .get((req, res, next) => {
      const file = Object.hasOwn(ASSET_NAMES, req.params.name) ? ASSET_NAMES[req.params.name] : undefined;
      if (file === undefined) return next('route');
      const { exchange, settle } = res.locals as { exchange: Exchange; settle(status: number): void };
      res.set({ 'x-content-type-options': 'nosniff', 'x-request-id': exchange.requestId });
      res.sendFile(join(ASSETS, file), { maxAge: '1h' }, (error) =>
        error && !res.headersSent ? next(error) : settle(res.statusCode),
      );
    })
    .all(otherMethods('GET', 'HEAD'));

  app.use(
    before(async (exchange) => {
      await pipeline.findEnvironment(exchange);
      pipeline.limit(exchange);
    }),
  );
  addBrandFiles(app, deps);
  const portal = addPortalPages(app, page, deps);
  app
    .route('/connect/connected')
    .get(
      page('connectedPage', async (call) =>
        (await portal.isInPortal(call)) ? BACK_TO_PORTAL : connected(linkDeps, call),
      ),
    )
    .all(otherMethods('GET', 'HEAD'));
  // Added before the routes of links, because `/connect/:token` also matches the login page `/connect/verify`.
  addLoginPages(app, page, deps);
  app
    .route('/connect/:token')
    .get(page('openLink', ofLink(form.show)))
    .post(page('submitLink', ofLink(form.submit)))
    .all(otherMethods('GET', 'HEAD', 'POST'));
  app
    .route('/connect/:token/outcome')
    .get(
      route((exchange, { token = '' }) => {
        exchange.name = 'linkOutcome';
        return outcomeReply(linkDeps, pageCall(exchange, deps), token);
      }),
    )
    .all(otherMethods('GET', 'HEAD'));
  app
    .route('/oauth/callback/:connectionId')
    .get(page('finishConsent', (call, { connectionId = '' }) => callback.arrive(call, connectionId)))
    .post(page('postFragment', (call, { connectionId = '' }) => callback.post(call, connectionId)))
    .all(otherMethods('GET', 'HEAD', 'POST'));
  return app;
}

/** The response for a user who has connected an account during a portal session. */
const BACK_TO_PORTAL: PageReply = { redirect: '/portal?done=connected' };

async function ended(
  deps: PopupDeps,
  call: PageCall,
  opened: Exclude<OpenedLink, { kind: 'open' }>,
): Promise<PageReply> {
  if (isInPopup(call) && opened.kind !== 'waiting') return endedLinkPage(deps, call, opened);
  if (opened.kind === 'unknown') return { status: 404, page: expiredPage(call.context) };
  const { kind, request } = opened;
  const context = ofRequest(call, request);
  if (kind === 'waiting') return { status: 200, page: waitingPage(context) };
  if (kind === 'used') return { status: 410, page: usedPage(context, returnAfterConnecting(request)) };
  return { status: 410, page: expiredPage(context, leaveWithError(request)) };
}

/**
 * Returns the page after a verification. The page links to the application only if the origin in the query belongs to
 * the environment.
 */
async function connected({ store }: PopupDeps, call: PageCall): Promise<PageReply> {
  const query = new URL(call.req.url ?? '', 'http://localhost').searchParams;
  const origin = query.get('application');
  const isAllowed = origin !== null && (await currentOrigins(store, call.environment)).includes(origin);
  const context = ofRequest(call, { language: query.get('language') });
  return { status: 200, page: connectedPage(context, isAllowed ? { url: origin } : undefined) };
}
