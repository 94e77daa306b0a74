import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Registry } from 'prom-client';
import { inBackground } from '../../core/scheduling/background.ts';
import type { Logger } from './log.ts';

/** Serves the metrics. They have a separate listener, by default on loopback, so that API clients cannot reach them. */
export function createMetricsListener(registry: Pick<Registry, 'metrics' | 'contentType'>, log: Logger) {
  return (req: IncomingMessage, res: ServerResponse) => {
    if (!/^\/metrics(\?|$)/.test(req.url ?? '/')) {
      res.writeHead(404).end();
      return;
    }
    if (!['GET', 'HEAD'].includes(req.method ?? '')) {
      res.writeHead(405, { allow: 'GET, HEAD' }).end();
      return;
    }
    const answer = async () => {
      const bytes = Buffer.from(await registry.metrics());
      res.writeHead(200, { 'content-type': registry.contentType, 'content-length': bytes.length });
      res.end(req.method === 'HEAD' ? undefined : bytes);
    };
    void inBackground(answer, (err) => {
      log.error({ err }, 'the metrics could not be collected');
      res.destroy();
    });
  };
}
