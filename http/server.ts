import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { BACKGROUND } from '../core/budgets.ts';
import { startTimer, withinLimit } from '../core/scheduling/timers.ts';
import type { EventFeed } from '../core/webhooks/event-feed.ts';
import { type Capabilities, createHandlers } from '../handlers/index.ts';
import type { Config } from './config/config.ts';
import { boundConnections } from './connections/bound-connections.ts';
import { bindPorts, type Ports } from './connections/bound-server.ts';
import type { LinkPageDeps } from './entry-points/connect.ts';
import { type ConsoleDeps, createConsole } from './entry-points/console.ts';
import { isConsole } from './entry-points/console-files.ts';
import { createMcpServing, type McpServingDeps } from './entry-points/create-mcp.ts';
import { expressEntryPoint } from './entry-points/express-entry-point.ts';
import type { FrontPageDeps } from './entry-points/front-page.ts';
import { createMcpEntryPoint, isMcp, type McpDeps } from './entry-points/mcp.ts';
import { createOperations, type OperationDeps } from './entry-points/operations.ts';
import { errorPage } from './entry-points/pages.ts';
import { createRawCalls, isRawCall, type RawCallDeps } from './entry-points/raw-calls.ts';
import type { Logger } from './monitoring/log.ts';
import type { Metrics } from './monitoring/metrics.ts';
import { createMetricsListener } from './monitoring/metrics-listener.ts';
import { createPipeline, type PipelineDeps } from './pipeline/pipeline.ts';
import { browserErrorReply } from './responses/browser-error.ts';
import { type Contract, readContract } from './validation/served-contract.ts';
import { warmUp } from './warm-up.ts';

/** The parts of the server: those that each entry point needs, and the capabilities of the handlers. */
export type ServerDeps = PipelineDeps &
  OperationDeps &
  McpDeps &
  McpServingDeps &
  RawCallDeps &
  LinkPageDeps &
  FrontPageDeps &
  ConsoleDeps & {
    readonly config: Config;
    readonly log: Logger;
    readonly metrics: Metrics;
    readonly capabilities: Capabilities;
    readonly eventFeed: Pick<EventFeed, 'close'>;
    announceEnd(): void;
    /** Closes everything that was opened to create the parts. */
    close(): Promise<void>;
  };

export interface RunningServer {
  /** The origin of the API, with the actual port. */
  readonly origin: string;
  readonly metricsPort: number | null;
  /** Loads modules that the first requests would otherwise wait for, a few milliseconds at a time. */
  warmUp(): Promise<void>;
  /**
   * Waits for the configured delay, in which `/readyz` reports that the server is not ready. Then stops accepting
   * connections, lets running requests finish for a limited time, and closes everything that was opened.
   */
  stop(): Promise<void>;
}

/**
 * Composes the server: one pipeline, and its entry points. Express serves only pages and documents, because it replaces
 * the prototypes of every request, which costs more than the rest of the pipeline together.
 *
 * @param ports that were bound before the parts were created; if omitted, they are bound here
 * @param contract the operations, and the validators of their requests and responses
 * @throws ConfigError if a port cannot be used, or if the settings of connections are invalid; in the second case the
 * parts and the ports are closed
 */
export async function startServer(
  deps: ServerDeps,
  ports?: Ports,
  contract: Contract = readContract(),
): Promise<RunningServer> {
  const bound = ports ?? (await bindPorts(deps.config));
  const pipeline = createPipeline(deps);
  const mcp = createMcpEntryPoint(deps, createMcpServing(deps), pipeline);
  const loadDocs = async () => (await import('./entry-points/docs.ts')).createDocs(deps, pipeline);
  const docs = expressEntryPoint('docs', loadDocs, browserErrorReply);
  const loadPages = async () => (await import('./entry-points/connect.ts')).createConnect(deps, pipeline);
  const pages = expressEntryPoint('page', loadPages, errorPage);
  const operations = await createOperations(contract, createHandlers(deps.capabilities), deps, pipeline);
  const entryPoints = {
    operations: pipeline.listen(operations),
    docs: pipeline.listen(docs),
    pages: pipeline.listen(pages),
    mcp: pipeline.listen(mcp),
    console: deps.config.console ? pipeline.listen(createConsole(deps, pipeline)) : null,
    rawCalls: pipeline.listen(createRawCalls(deps, pipeline)),
  };
  const listener = (req: IncomingMessage, res: ServerResponse) => {
    // Checked first, because most requests are for operations.
    if (req.url?.startsWith(OPERATIONS) && !isRawCall(req)) entryPoints.operations(req, res);
    else if (isDocs(req)) entryPoints.docs(req, res);
    else if (isPage(req)) entryPoints.pages(req, res);
    else if (isMcp(req)) entryPoints.mcp(req, res);
    else if (entryPoints.console && isConsole(req.url)) entryPoints.console(req, res);
    else if (isRawCall(req)) entryPoints.rawCalls(req, res);
    else entryPoints.operations(req, res);
  };
  let isStopping = false;
  const steps = [
    ...operations.backend.warmUpSteps(),
    // Loaded separately first, because Node evaluates a module with all its imports in one event-loop turn.
    { name: 'express', run: () => import('express') },
    { name: 'pages of links', run: pages.load },
    { name: 'pages of the reference', run: docs.load },
  ];
  const { server } = bound.api;
  try {
    boundConnections(server, deps, bound.limits);
  } catch (error) {
    bound.close();
    await deps.close();
    throw error;
  }
  bound.api.serve(listener);
  bound.metrics?.serve(createMetricsListener(deps.metrics.registry, deps.log));
  const { port } = server.address() as { port: number };
  const host = deps.config.host.includes(':') ? `[${deps.config.host}]` : deps.config.host;
  return {
    origin: `http://${host}:${port}`,
    metricsPort: deps.config.metricsPort || null,
    warmUp: () =>
      warmUp(
        steps,
        () => wait(BACKGROUND.warmUpPauseMs),
        () => isStopping,
        deps.log,
      ),
    async stop() {
      isStopping = true;
      deps.announceEnd();
      if (deps.config.shutdownDelayMs > 0) await wait(deps.config.shutdownDelayMs);
      deps.eventFeed.close();
      await mcp.close();
      const servers = [bound.api.server, bound.metrics?.server];
      await Promise.all(servers.map((each) => each && drain(each, bound.limits.drainMs, deps.log)));
      await deps.close();
    },
  };
}

/** The beginning of the paths of operations and raw calls. */
const OPERATIONS = '/api/v1/';

/**
 * Whether a path is that of the front page, the OpenAPI document, the documentation, or a public file such as an icon
 * or `/connect.js`.
 */
function isDocs(req: IncomingMessage): boolean {
  const url = req.url ?? '/';
  return /^\/(\?|$)/.test(url) || DOCUMENTS.test(url);
}

const DOCUMENTS =
  /^\/(docs|icons|connect\.(js|d\.ts)|openapi\.(json|yaml)|llms\.txt|favicon\.(ico|svg)|\.well-known\/security\.txt)(\/|\?|$)/;

/**
 * Whether a path is that of a page that a user visits to connect an account, to log in for an MCP client, or to manage
 * accounts.
 */
function isPage(req: IncomingMessage): boolean {
  return /^\/(connect|portal|oauth\/(callback|authorize|login|consent))(\/|\?|$)/.test(req.url ?? '/');
}

const SWEEP_MS = 20;

/**
 * Closes idle connections immediately, and busy ones after their response. Connections that are still open after the
 * deadline are closed too.
 */
async function drain(server: Server, limitMs: number, log: Logger): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve));
  const failed = (err: unknown) => log.error({ err }, 'idle connections could not be closed');
  // `server.close` closes the connections that are idle now. A connection with a pending response would be kept alive
  // after the response, so idle connections are closed repeatedly.
  const sweep = startTimer(() => server.closeIdleConnections(), { everyMs: SWEEP_MS, failed });
  if (!(await withinLimit(closed, limitMs))) server.closeAllConnections();
  await closed;
  await sweep.stop();
}
