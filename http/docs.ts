import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { ErrorRequestHandler, Express } from 'express';
import express from 'express';
import helmet from 'helmet';
import { ERRORS } from '../core/errors.ts';
import { errorsPage } from '../web/errors-page.ts';
import { referencePage } from '../web/reference-page.ts';

const ROOT = join(import.meta.dirname, '..');

/** Files of the reference viewer that the page needs; nothing else of the package is served. */
const VIEWER_FILES = ['swagger-ui.css', 'swagger-ui-bundle.js'];

/**
 * The contract as it is published, and the pages that explain it. No outside asset, no inline script.
 *
 * @param notFound answers what is none of them
 */
export function createDocs(notFound: (req: IncomingMessage, res: ServerResponse) => unknown): Express {
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
      // Decided by whoever terminates TLS in front.
      strictTransportSecurity: false,
    }),
  );
  serveText(app, '/openapi.json', 'application/json', readFileSync(join(ROOT, 'generated/openapi.json'), 'utf8'));
  serveText(app, '/openapi.yaml', 'application/yaml', readFileSync(join(ROOT, 'generated/openapi.yaml'), 'utf8'));
  serveText(app, '/docs', 'text/html; charset=utf-8', String(referencePage()));
  const errors = Object.entries(ERRORS).map(([code, entry]) => ({ code, ...entry }));
  serveText(app, '/docs/errors', 'text/html; charset=utf-8', String(errorsPage(errors)));
  app.use('/docs', express.static(join(ROOT, 'web/assets'), { index: false, maxAge: '1h' }));
  const viewer = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  for (const file of VIEWER_FILES) {
    app.get(`/docs/assets/${file}`, (_req, res) => res.sendFile(join(viewer, file), { maxAge: '1h' }));
  }
  // Express would answer with pages of its own, which repeat the path.
  app.use((req: IncomingMessage, res: ServerResponse) => void notFound(req, res));
  const failed: ErrorRequestHandler = (_error, req, res, _next) => void notFound(req, res);
  app.use(failed);
  return app;
}

function serveText(app: Express, path: string, type: string, text: string): void {
  app.get(path, (_req, res) => {
    res.set('content-type', type).send(text);
  });
}
