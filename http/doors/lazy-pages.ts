import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Express } from 'express';
import type { Logger } from '../log.ts';

/**
 * Pages whose application is loaded with the first request for one: express and what it brings along take a fifth of the time and of
 * the memory of a start, and most servers serve agents only. A load that failed is tried again with the next request.
 */
export function lazyPages(
  load: () => Promise<Express>,
  log: Logger,
): (req: IncomingMessage, res: ServerResponse) => void {
  let app: Promise<Express> | undefined;
  return (req, res) => {
    app ??= load();
    const failed = (err: unknown) => {
      app = undefined;
      log.error({ err }, 'the pages cannot be served');
      if (res.headersSent) res.destroy();
      else res.writeHead(503, { 'retry-after': '1', 'content-length': '0' }).end();
    };
    app.then((pages) => pages(req, res)).catch(failed);
  };
}
