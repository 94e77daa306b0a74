import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Express } from 'express';
import type { Logger } from './log.ts';

/**
 * Pages whose application is loaded with the first request for one: express and what it brings along take a fifth of the time and of
 * the memory of a start, and most servers answer agents alone.
 */
export function lazyPages(
  load: () => Promise<Express>,
  log: Logger,
): (req: IncomingMessage, res: ServerResponse) => void {
  let app: Promise<Express> | undefined;
  return (req, res) => {
    app ??= load();
    app
      .then((pages) => pages(req, res))
      .catch((err) => {
        log.error({ err }, 'the pages cannot be served');
        res.destroy();
      });
  };
}
