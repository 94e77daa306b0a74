import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import { handlers } from '../handlers/index.ts';
import { ConfigError } from './config.ts';
import { readDefinition } from './definition.ts';
import type { Deps } from './deps.ts';
import { createDocs } from './docs.ts';
import { createMetricsServer } from './metrics.ts';
import { createPipeline } from './pipeline.ts';

export interface RunningServer {
  /** The origin that the API listens on, with the real port. */
  readonly origin: string;
  readonly metricsPort: number | null;
  /** Stops accepting, lets running requests finish, then closes everything that was opened. */
  stop(): Promise<void>;
}

const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;
const KEEP_ALIVE_MS = 30_000;
const DRAIN_MS = 10_000;
const MAX_CONNECTIONS = 10_000;

/**
 * Composes the server. The operations of the contract are served in front of express: it swaps the prototypes of every request,
 * which costs more than everything else of the pipeline together. Express keeps the pages.
 *
 * @throws ConfigError when a port cannot be used; the deps are closed then
 */
export async function startServer(deps: Deps): Promise<RunningServer> {
  const pipeline = await createPipeline(readDefinition(), handlers, deps);
  const docs = createDocs();
  const listener = (req: IncomingMessage, res: ServerResponse) => {
    if (isPage(req)) docs(req, res);
    else void pipeline.serve(req, res);
  };
  const server = createServer(
    {
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
      maxHeaderSize: 16 * 1024,
      connectionsCheckingInterval: 5_000,
    },
    listener,
  );
  server.maxConnections = MAX_CONNECTIONS;
  const metricsServer = deps.config.metricsPort ? createMetricsServer(deps.metrics) : null;
  try {
    await listen(server, deps.config.port, deps.config.host, 'PORT');
    if (metricsServer) await listen(metricsServer, deps.config.metricsPort, '127.0.0.1', 'METRICS_PORT');
  } catch (error) {
    server.close();
    await deps.close();
    throw error;
  }
  const { port } = server.address() as { port: number };
  const host = deps.config.host.includes(':') ? `[${deps.config.host}]` : deps.config.host;
  return {
    origin: `http://${host}:${port}`,
    metricsPort: deps.config.metricsPort || null,
    async stop() {
      await Promise.all([drain(server), metricsServer && drain(metricsServer)]);
      await deps.close();
    },
  };
}

/** Paths that express serves; any other path is answered by the contract, with its own 404. */
function isPage(req: IncomingMessage): boolean {
  return /^\/(docs|openapi\.(json|yaml))(\/|\?|$)/.test(req.url ?? '/');
}

/** @throws ConfigError that names the variable to change: a port in use is the commonest failure of a start */
function listen(server: Server, port: number, host: string, variable: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const refuse = ({ code }: NodeJS.ErrnoException) => {
      const reason =
        code === 'EADDRINUSE'
          ? `is in use: stop what uses it, or set ${variable}`
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

/** Idle connections are closed at once, busy ones when their answer is written, and what hangs after ten seconds is cut. */
function drain(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const cut = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
    server.close(() => {
      clearTimeout(cut);
      resolve();
    });
    server.closeIdleConnections();
  });
}
