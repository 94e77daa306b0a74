import { existsSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import type { Express } from 'express';
import express from 'express';
import helmet from 'helmet';
import { ERRORS } from '../../core/errors.ts';
import { errorsPage } from '../../web/docs/errors-page.ts';
import { referencePage, viewerMissingPage } from '../../web/docs/reference-page.ts';
import { corsForAll } from '../pipeline/cors.ts';
import type { Pipeline } from '../pipeline/pipeline.ts';
import { documentRoute, documentsOf, HTML, lazyDocuments } from './documents.ts';
import { otherMethods } from './express-entry-point.ts';
import { addFrontPage, type FrontPageDeps } from './front-page.ts';
import { addGuides } from './guide-pages.ts';
import { addMarkFiles, type MarkFileDeps } from './mark-files.ts';

const ROOT = join(import.meta.dirname, '../..');
const ASSETS = join(ROOT, 'web/assets');

/** The files in web/assets that the pages need. */
const PAGE_FILES = ['docs.css', 'reference.css', 'reference.js', 'style-sheets.js', 'typescript-sample.js'];
const POPUP_FILES = ['connect.js', 'connect.d.ts'];
const ICONS = { '/favicon.ico': 'favicon.ico', '/favicon.svg': 'connect-icon.svg' };
/** The files of the reference viewer, which `scripts/build-reference.ts` copies. */
const VIEWER = join(ROOT, 'build/reference');
const VIEWER_FILE = /^[\w.-]+\.(?:js|css)$/;
const TYPES: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.ico': 'image/x-icon',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.ts': 'text/plain; charset=utf-8',
};
const ASSET_SECONDS = 60 * 60;

/**
 * Serves the front page, the published contract, and the pages that explain it, on every host. The pages use no
 * external assets and no inline scripts. Large files are read at their first request.
 */
export function createDocs(deps: FrontPageDeps & MarkFileDeps, pipeline: Pipeline): Express {
  const app = express();
  app.disable('x-powered-by');
  app.use(
    helmet({
      contentSecurityPolicy: {
        useDefaults: false,
        directives: {
          defaultSrc: ["'none'"],
          scriptSrc: ["'self'"],
          styleSrc: ["'self'"],
          imgSrc: ["'self'", 'data:'],
          connectSrc: ["'self'"],
          baseUri: ["'none'"],
          formAction: ["'none'"],
          frameAncestors: ["'none'"],
        },
      },
      // Strict-Transport-Security is set by the proxy that terminates TLS.
      strictTransportSecurity: false,
    }),
  );
  const serve = documentsOf(app);
  addFrontPage(app, deps, pipeline);
  serve('/openapi.json', () => readFileSync(join(ROOT, 'generated/openapi.json')), { type: 'application/json' });
  serve('/openapi.yaml', () => readFileSync(join(ROOT, 'generated/openapi.yaml')), { type: 'application/yaml' });
  const viewer = existsSync(VIEWER);
  serve('/docs', () => String(viewer ? referencePage() : viewerMissingPage()), { type: HTML });
  const errors = Object.entries(ERRORS).map(([code, entry]) => ({ code, ...entry }));
  serve('/docs/errors', () => String(errorsPage(errors)), { type: HTML });
  for (const file of PAGE_FILES) serve(`/docs/assets/${file}`, () => readFileSync(join(ASSETS, file)), asset(file));
  for (const [path, file] of Object.entries(ICONS)) serve(path, () => readFileSync(join(ASSETS, file)), asset(file));
  addPopupScript(app);
  addMarkFiles(app, deps);
  addViewer(app, '/docs/viewer', VIEWER);
  addViewer(app, '/docs/viewer/chunks', join(VIEWER, 'chunks'));
  addGuides(app);
  return app;
}

/** Adds the script that applications load into their own pages, and its types. */
function addPopupScript(app: Express): void {
  const serve = documentsOf(app);
  for (const file of POPUP_FILES) {
    app.use(`/${file}`, (_req, res, next) => {
      res.set({ ...corsForAll(), 'cross-origin-resource-policy': 'cross-origin' });
      next();
    });
    serve(`/${file}`, () => readFileSync(join(ASSETS, file)), asset(file));
  }
}

function addViewer(app: Express, path: string, folder: string): void {
  const files = lazyDocuments((name) => {
    const file = join(folder, name);
    if (!VIEWER_FILE.test(name) || !existsSync(file)) return undefined;
    return { content: readFileSync(file), options: asset(name) };
  });
  app.route(`${path}/:name`).get(documentRoute(files)).all(otherMethods('GET', 'HEAD'));
}

function asset(name: string) {
  return { type: TYPES[extname(name)] as string, maxAgeSeconds: ASSET_SECONDS };
}
