import { createServer, type IncomingMessage, type Server, type ServerOptions, type ServerResponse } from 'node:http';
import { SERVER } from '../core/budgets.ts';
import type { Config } from './config.ts';
import { ConfigError } from './config.ts';
import { oneAtATime } from './one-at-a-time.ts';

type Listener = (req: IncomingMessage, res: ServerResponse) => void;

/** How long a client may take and how many there may be (threat S2); core/budgets.ts says what each is for. */
export type ServerLimits = Record<keyof typeof SERVER, number>;

/** A server that has its port. Requests that arrive before it has a listener wait for it. */
export interface BoundServer {
  server: Server;
  /** From now on requests go to this listener, those that have been waiting first. */
  serve(listener: Listener): void;
}

/** The ports of a start: bound before it touches the data, so that a start that is refused has changed nothing. */
export interface Ports {
  api: BoundServer;
  metrics: BoundServer | null;
  limits: ServerLimits;
  close(): void;
}

/** @throws ConfigError when a port cannot be used; none is bound then */
export async function bindPorts(config: Config, changed: Partial<ServerLimits> = {}): Promise<Ports> {
  const limits = { ...SERVER, ...changed };
  const api = await bind(config.port, config.host, 'PORT', limits.pipelined, {
    headersTimeout: limits.headersMs,
    requestTimeout: limits.requestMs,
    keepAliveTimeout: limits.keepAliveMs,
    maxHeaderSize: limits.headerBytes,
    // Node keeps only the first duplicate header, and a proxy may have checked another. The joined value is not a known host or token.
    joinDuplicateHeaders: true,
    // Requests without a body then emit no stream events, which saves a tenth of the time of a read.
    optimizeEmptyRequests: true,
    connectionsCheckingInterval: limits.checkEveryMs,
  });
  api.server.maxConnections = limits.connections;
  try {
    const metrics = config.metricsPort
      ? await bind(config.metricsPort, '127.0.0.1', 'METRICS_PORT', limits.pipelined, {})
      : null;
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

/** @param maxPipelined requests that may wait on one connection, also while the server has no listener yet */
async function bind(
  port: number,
  host: string,
  variable: string,
  maxPipelined: number,
  options: ServerOptions,
): Promise<BoundServer> {
  const waiting: Parameters<Listener>[] = [];
  let current: Listener = (...exchange) => waiting.push(exchange);
  const server = createServer(
    options,
    oneAtATime((req, res) => current(req, res), maxPipelined),
  );
  await listen(server, port, host, variable);
  return {
    server,
    serve(listener) {
      current = listener;
      for (const exchange of waiting.splice(0)) listener(...exchange);
    },
  };
}

/** @throws ConfigError that names the variable to change: a port in use is the commonest failure of a start */
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
