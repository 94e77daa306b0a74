import type { Express } from 'express';
import type { Readiness } from '../../core/capabilities/service.ts';
import { ApiError } from '../../core/errors.ts';
import { programVersion } from '../../core/program-version.ts';
import { frontPage } from '../../web/docs/front-page.ts';
import type { Config } from '../config/config.ts';
import { type SecurityContact, securityText } from '../documents/security-text.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import type { Pipeline } from '../pipeline/pipeline.ts';
import { prefersPage } from '../responses/browser-error.ts';
import { HTML } from './documents.ts';
import { otherMethods, route } from './express-entry-point.ts';

export interface FrontPageDeps {
  readonly config: SecurityContact & Pick<Config, 'console'>;
  /** Milliseconds UTC. */
  now(): number;
  readiness(): Promise<Readiness>;
}

interface Content {
  type: string;
  text: string;
  headers?: Record<string, string>;
}

const JSON_TYPE = 'application/json';
const TEXT = 'text/plain; charset=utf-8';

/**
 * Serves `/`, which shows the address and the state of the server, and `/.well-known/security.txt`, which says how to
 * report a vulnerability.
 */
export function addFrontPage(app: Express, deps: FrontPageDeps, pipeline: Pipeline): void {
  /** Returns a page to a browser, and JSON to any other client. */
  async function front({ req }: Exchange, baseUrl: string): Promise<Content> {
    const { database, keys, ending } = await deps.readiness();
    const [version, ready] = [programVersion(), database && keys && !ending];
    const { console: hasConsole } = deps.config;
    const headers = { vary: 'accept' };
    if (prefersPage(req)) {
      return { type: HTML, headers, text: String(frontPage({ version, ready, baseUrl, hasConsole })) };
    }
    const summary = {
      name: 'Valetkey',
      version,
      state: ready ? 'ready' : 'not_ready',
      ...(hasConsole && { console: `${baseUrl}/console` }),
      reference: `${baseUrl}/docs`,
      guides: `${baseUrl}/docs/guides`,
      mcp: `${baseUrl}/docs/guides/mcp`,
      openapi: `${baseUrl}/openapi.json`,
    };
    return { type: JSON_TYPE, headers, text: `${JSON.stringify(summary, null, 2)}\n` };
  }

  async function security(_exchange: Exchange, baseUrl: string): Promise<Content> {
    const text = securityText(deps.config, baseUrl, deps.now());
    if (text === undefined) throw new ApiError('NOT_FOUND', 'The page does not exist.');
    return { type: TEXT, text };
  }

  const add = (path: string, contentOf: (exchange: Exchange, baseUrl: string) => Promise<Content>) => {
    const send = route(async (exchange) => {
      const { baseUrl } = await pipeline.findEnvironment(exchange);
      pipeline.limit(exchange);
      const { type, text, headers } = await contentOf(exchange, baseUrl);
      const common = { ...exchange.responseHeaders, 'x-request-id': exchange.requestId, 'cache-control': 'no-store' };
      const body = Buffer.from(text);
      exchange.res.writeHead(200, { ...common, ...headers, 'content-type': type, 'content-length': body.length });
      exchange.res.end(body);
      return 200;
    });
    app.route(path).get(send).all(otherMethods('GET', 'HEAD'));
  };
  add('/', front);
  add('/.well-known/security.txt', security);
}
