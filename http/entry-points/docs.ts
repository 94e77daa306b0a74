import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, extname, join } from 'node:path';
import type { Express } from 'express';
import express from 'express';
import helmet from 'helmet';
import { ERRORS } from '../../core/errors.ts';
import { errorsPage } from '../../web/errors-page.ts';
import { referencePage } from '../../web/reference-page.ts';
import { createStaticDocument, type StaticDocumentOptions } from '../static-document.ts';
import { otherMethods, route } from './express-entry-point.ts';

const ROOT = join(import.meta.dirname, '../..');

/** The files in web/assets that the reference page needs. */
const PAGE_FILES = ['reference.css', 'reference.js'];
const ASSET_TYPES: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
};
const ASSET_SECONDS = 60 * 60;

/** The files of the reference viewer that the page needs; other files of the package are not served. */
const VIEWER_FILES = ['swagger-ui.css', 'swagger-ui-bundle.js'];

/**
 * Serves the published contract and the pages that explain it, on every host. The pages use no external assets and no
 * inline scripts.
 */
export function createDocs(): Express {
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
  serve(app, '/openapi.json', readFileSync(join(ROOT, 'generated/openapi.json')), { type: 'application/json' });
  serve(app, '/openapi.yaml', readFileSync(join(ROOT, 'generated/openapi.yaml')), { type: 'application/yaml' });
  serve(app, '/docs', String(referencePage()), { type: 'text/html; charset=utf-8' });
  const errors = Object.entries(ERRORS).map(([code, entry]) => ({ code, ...entry }));
  serve(app, '/docs/errors', String(errorsPage(errors)), { type: 'text/html; charset=utf-8' });
  for (const file of PAGE_FILES) serveAsset(app, `/docs/${file}`, join(ROOT, 'web/assets', file));
  const viewer = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  for (const file of VIEWER_FILES) serveAsset(app, `/docs/assets/${file}`, join(viewer, file));
  return app;
}

function serve(app: Express, path: string, content: string | Buffer, options: StaticDocumentOptions): void {
  const document = createStaticDocument(content, options);
  const send = route(async ({ req, res, requestId }) => {
    res.setHeader('x-request-id', requestId);
    await document(req, res);
    return res.statusCode;
  });
  app.route(path).get(send).all(otherMethods('GET', 'HEAD'));
}

function serveAsset(app: Express, path: string, file: string): void {
  serve(app, path, readFileSync(file), { type: ASSET_TYPES[extname(file)] as string, maxAgeSeconds: ASSET_SECONDS });
}
