import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import type { ErrorRequestHandler, Express } from 'express';
import express from 'express';
import type { LinkTools } from '../../core/accounts/links/link-tools.ts';
import { openLink } from '../../core/accounts/links/open-link.ts';
import { ApiError } from '../../core/errors.ts';
import { connectedPage, expiredPage, usedPage, waitingPage } from '../../web/connect/message-pages.ts';
import type { Deps } from '../deps.ts';
import { createCallback } from './connect-callback.ts';
import { createLinkForm } from './connect-form.ts';
import { createPages, type PageReply } from './page.ts';

const ASSETS = join(import.meta.dirname, '../../web/assets');
const ASSET_NAMES: Record<string, string> = {
  'connect.css': 'connect.css',
  'fragment.js': 'connect-fragment.js',
  'icon.svg': 'connect-icon.svg',
};

/** The pages that a person passes through: the link, the way back from the provider, the end. */
export function createConnect(deps: Deps): Express {
  const tools: LinkTools = { ...deps, sealedFlows: deps.sealedReplies };
  const pages = createPages(deps);
  const form = createLinkForm(deps, tools);
  const callback = createCallback(tools);
  const app = express();
  app.disable('x-powered-by');

  app.get('/connect/assets/:name', (req, res, next) => {
    const file = Object.hasOwn(ASSET_NAMES, req.params.name) ? ASSET_NAMES[req.params.name] : undefined;
    if (file === undefined) return next();
    res.set('x-content-type-options', 'nosniff').sendFile(join(ASSETS, file), { maxAge: '1h' });
  });

  const connected = pages('connectedPage', () => ({ status: 200, page: connectedPage() }));
  app.get('/connect/connected', connected);

  app.get('/connect/:token', (req, res) =>
    pages('openLink', async (call) => {
      const opened = await openLink(tools, call.environment, req.params.token);
      if (opened.kind === 'open') return form.show(call, opened.link, req.params.token);
      return ended(opened.kind);
    })(req, res),
  );
  app.post('/connect/:token', (req, res) =>
    pages('submitLink', async (call) => {
      const opened = await openLink(tools, call.environment, req.params.token);
      if (opened.kind === 'open') return form.submit(call, opened.link, req.params.token);
      return ended(opened.kind);
    })(req, res),
  );

  app.get('/oauth/callback/:connectionId', (req, res) =>
    pages('finishConsent', (call) => callback.arrive(call, req.params.connectionId))(req, res),
  );
  app.post('/oauth/callback/:connectionId', (req, res) =>
    pages('postFragment', (call) => callback.post(call, req.params.connectionId))(req, res),
  );

  const notFound = pages('noPage', ({ req }) => {
    if (req.method === 'GET' || req.method === 'HEAD') throw new ApiError('NOT_FOUND', 'There is no such page.');
    throw new ApiError('METHOD_NOT_ALLOWED', 'The page cannot be used in this way.');
  });
  app.use((req: IncomingMessage, res: ServerResponse) => void notFound(req, res));
  // A path that cannot be read, and what the file server refuses: express would answer with the error itself.
  const failed: ErrorRequestHandler = (_error, req, res, _next) => void notFound(req, res);
  app.use(failed);
  return app;
}

function ended(kind: 'unknown' | 'waiting' | 'used' | 'expired'): PageReply {
  if (kind === 'waiting') return { status: 200, page: waitingPage() };
  if (kind === 'used') return { status: 410, page: usedPage() };
  return { status: kind === 'unknown' ? 404 : 410, page: expiredPage() };
}
