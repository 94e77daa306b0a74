import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import { SERVER } from '../core/budgets.ts';
import { handlers } from '../handlers/index.ts';
import { boundConnections } from './bound-connections.ts';
import { ConfigError } from './config.ts';
import { createMcpServing } from './create-mcp.ts';
import { readDefinition } from './definition.ts';
import type { Deps } from './deps.ts';
import { lazyPages } from './lazy-pages.ts';
import { createMcpMount, isMcp } from './mcp.ts';
import { createMetricsServer } from './metrics.ts';
import { oneAtATime } from './one-at-a-time.ts';
import { createPipeline } from './pipeline.ts';
import { createProxy, isRawCall } from './proxy.ts';

export interface RunningServer {
  /** The origin that the API listens on, with the real port. */
  readonly origin: string;
  readonly metricsPort: number | null;
  /** Stops accepting, lets running requests finish, then closes everything that was opened. */
  stop(): Promise<void>;
}

/** How long a client may take and how many there may be (threat S2); core/budgets.ts says what each is for. */
export type ServerLimits = Record<keyof typeof SERVER, number>;

/**
 * Composes the server. The operations of the contract are served in front of express: it swaps the prototypes of every request,
 * which costs more than everything else of the pipeline together. Express keeps the pages.
 *
 * @throws ConfigError when a port cannot be used; the deps are closed then
 */
export async function startServer(deps: Deps, changed: Partial<ServerLimits> = {}): Promise<RunningServer> {
  const limits = { ...SERVER, ...changed };
  const pipeline = await createPipeline(readDefinition(), handlers, deps);
  const docs = lazyPages(async () => (await import('./docs.ts')).createDocs(pipeline.serve), deps.log);
  const connect = lazyPages(async () => (await import('./connect.ts')).createConnect(deps), deps.log);
  const mcp = createMcpMount(deps, createMcpServing(deps));
  const proxy = createProxy(deps);
  const listener = (req: IncomingMessage, res: ServerResponse) => {
    if (isPage(req)) docs(req, res);
    else if (isLinkPage(req)) connect(req, res);
    else if (isMcp(req)) mcp.serve(req, res).catch(cutOff(res));
    else if (isRawCall(req)) proxy(req, res).catch(cutOff(res));
    else pipeline.serve(req, res).catch(cutOff(res));
  };
  /** For a fault outside of what turns faults into responses: it ends this connection, not the process. */
  const cutOff = (res: ServerResponse) => (err: unknown) => {
    deps.log.error({ err }, 'a response could not be written');
    res.destroy();
  };
  const server = createServer(
    {
      headersTimeout: limits.headersMs,
      requestTimeout: limits.requestMs,
      keepAliveTimeout: limits.keepAliveMs,
      maxHeaderSize: limits.headerBytes,
      // By default the first of several counts, silently, and whoever stands in front may have judged another one. Joined they are
      // no host and no token that is known.
      joinDuplicateHeaders: true,
      // A request without a body is no stream then: the events of its end are a tenth of the time of a read.
      optimizeEmptyRequests: true,
      connectionsCheckingInterval: limits.checkEveryMs,
    },
    oneAtATime(listener, limits.pipelined),
  );
  const metricsServer = deps.config.metricsPort ? createMetricsServer(deps.metrics, deps.log) : null;
  try {
    boundConnections(server, deps, limits);
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
      await mcp.close();
      await Promise.all([drain(server, limits.drainMs), metricsServer && drain(metricsServer, limits.drainMs)]);
      await deps.close();
    },
  };
}

/** Paths that express serves; any other path is answered by the contract, with its own 404. */
function isPage(req: IncomingMessage): boolean {
  return /^\/(docs|openapi\.(json|yaml))(\/|\?|$)/.test(req.url ?? '/');
}

/** Paths of the pages that a person passes through to connect an account. */
function isLinkPage(req: IncomingMessage): boolean {
  return /^\/(connect|oauth\/callback)(\/|\?|$)/.test(req.url ?? '/');
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

const SWEEP_MS = 20;

/** Idle connections are closed at once, busy ones soon after their answer, and what hangs in the end is cut. */
function drain(server: Server, limitMs: number): Promise<void> {
  return new Promise((resolve) => {
    // The library closes those that are idle now; one whose answer is still to come would be kept alive afterwards.
    const sweep = setInterval(() => server.closeIdleConnections(), SWEEP_MS);
    const cut = setTimeout(() => server.closeAllConnections(), limitMs);
    server.close(() => {
      clearInterval(sweep);
      clearTimeout(cut);
      resolve();
    });
  });
}
