import { createServer, type IncomingMessage, type Server, type ServerOptions, type ServerResponse } from 'node:http';
import { SERVER } from '../../core/budgets.ts';
import type { Config } from '../config/config.ts';
import { ConfigError } from '../config/config-error.ts';
import { oneAtATime } from './one-at-a-time.ts';

type Listener = (req: IncomingMessage, res: ServerResponse) => void;

/** Limits for the time and number of connections (threat S2); core/budgets.ts describes each. */
export type ServerLimits = Record<keyof typeof SERVER, number>;

/** A server that listens on its port. Requests that arrive before it has a request listener wait. */
export interface BoundServer {
  server: Server;
  /** Sets the request listener; waiting requests are passed to it first. */
  serve(listener: Listener): void;
}

/**
 * The servers of this process. Their ports are usually bound before the database is opened, so that a start which
 * cannot bind a port changes nothing. A process that replaces another one binds them later (`bindsFirst` in
 * cli/serve/open-server.ts).
 */
export interface Ports {
  api: BoundServer;
  metrics: BoundServer | null;
  limits: ServerLimits;
  close(): void;
}

/** @throws ConfigError if a port cannot be used; then no port is bound */
export async function bindPorts(config: Config, changed: Partial<ServerLimits> = {}): Promise<Ports> {
  const limits = { ...SERVER, ...changed };
  const api = await bind(config.port, config.host, 'PORT', limits.pipelined, {
    headersTimeout: limits.headersMs,
    requestTimeout: limits.requestMs,
    keepAliveTimeout: limits.keepAliveMs,
    maxHeaderSize: limits.headerBytes,
    // By default Node keeps only the first of duplicate headers, and a proxy may have checked another one. The joined
    // value matches no known host or token.
    joinDuplicateHeaders: true,
    // Node would respond to requests without a Host header itself, without limiting how many of them one connection
    // sends. So this server rejects them.
    requireHostHeader: false,
    // Requests without a body then emit no stream events, which saves a tenth of the time of a read request.
    optimizeEmptyRequests: true,
    connectionsCheckingInterval: limits.checkEveryMs,
  });
  api.server.maxConnections = limits.connections;
  // Connections beyond the limit are closed. By default, a process that shares the port returns them to its parent,
  // which offers them again and again.
  Object.assign(api.server, { dropMaxConnection: true });
  try {
    const metrics = await bindMetricsPort(config, limits);
    const close = () => {
      for (const bound of [api, metrics]) {
        bound?.server.close();
        bound?.server.closeAllConnections();
      }
    };
    return { api, metrics, limits, close };
  } catch (error) {
    api.server.close();
    throw error;
  }
}

/** @returns null if the metrics are turned off @throws ConfigError if the port cannot be used */
export async function bindMetricsPort(
  { metricsPort, metricsHost }: Pick<Config, 'metricsPort' | 'metricsHost'>,
  { pipelined }: Pick<ServerLimits, 'pipelined'> = SERVER,
): Promise<BoundServer | null> {
  return metricsPort ? bind(metricsPort, metricsHost, 'METRICS_PORT', pipelined, {}) : null;
}

/**
 * @param maxPipelined the maximum number of requests that wait on one connection; it also applies before serve() is
 * called
 */
async function bind(
  port: number,
  host: string,
  variable: string,
  maxPipelined: number,
  options: ServerOptions,
): Promise<BoundServer> {
  const waiting: Parameters<Listener>[] = [];
  let current: Listener = (...exchange) => waiting.push(exchange);
  const oneByOne = oneAtATime((req, res) => {
    const refusal = refusalOf(req);
    if (refusal === undefined) current(req, res);
    else res.writeHead(refusal, { connection: 'close' }).end();
  }, maxPipelined);
  const server = createServer(options, oneByOne);
  server.on('checkExpectation', oneByOne);
  await listen(server, port, host, variable);
  return {
    server,
    serve(listener) {
      current = listener;
      for (const exchange of waiting.splice(0)) listener(...exchange);
    },
  };
}

/** Returns the status for a request that HTTP itself forbids; undefined if the request is allowed. */
function refusalOf({ headers: { host, expect }, httpVersion }: IncomingMessage): number | undefined {
  if (httpVersion !== '1.1') return undefined;
  // RFC 9112 §3.2.
  if (host === undefined) return 400;
  // RFC 9110 §10.1.1.
  if (expect !== undefined && !/100-continue/i.test(expect)) return 417;
  return undefined;
}

/** @throws ConfigError naming the variable to change, because a port in use is the most common failure of a start */
function listen(server: Server, port: number, host: string, variable: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const refuse = ({ code }: NodeJS.ErrnoException) => {
      const reason =
        code === 'EADDRINUSE'
          ? `is in use: stop the process that uses it, or set ${variable}`
          : `cannot be used (${code}): check HOST and ${variable}`;
      reject(new ConfigError(`${host}:${port} ${reason}`));
    };
    server.once('error', refuse);
    server.listen(port, host, () => {
      server.removeListener('error', refuse);
      resolve();
    });
  });
}
