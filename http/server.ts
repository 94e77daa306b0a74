import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Document } from 'openapi-backend';
import { handlers } from '../handlers/index.ts';
import { boundConnections } from './bound-connections.ts';
import { bindPorts, type Ports } from './bound-server.ts';
import { readDefinition } from './definition.ts';
import type { Deps } from './deps.ts';
import { createMcpServing } from './doors/create-mcp.ts';
import { lazyPages } from './doors/lazy-pages.ts';
import { createMcpMount, isMcp } from './doors/mcp.ts';
import { createPipeline } from './doors/operations.ts';
import { createProxy, isRawCall } from './doors/raw-calls.ts';
import { createMetricsListener } from './metrics.ts';

export interface RunningServer {
  /** The origin that the API listens on, with the real port. */
  readonly origin: string;
  readonly metricsPort: number | null;
  /** Stops accepting, lets running requests finish, then closes everything that was opened. */
  stop(): Promise<void>;
}

/**
 * Composes the server. The operations of the contract are served in front of express: it swaps the prototypes of every request,
 * which costs more than everything else of the pipeline together. Express keeps the pages.
 *
 * @param ports that were bound before the deps were made
 * @param contract the OpenAPI document that requests and responses are checked against
 * @throws ConfigError when a setting cannot be read; the deps and the ports are closed then
 */
export async function startServer(
  deps: Deps,
  ports?: Ports,
  contract: Document = readDefinition(),
): Promise<RunningServer> {
  const bound = ports ?? (await bindPorts(deps.config));
  const pipeline = await createPipeline(contract, handlers, deps);
  const docs = lazyPages(async () => (await import('./doors/docs.ts')).createDocs(pipeline.serve), deps.log);
  const connect = lazyPages(async () => (await import('./doors/connect.ts')).createConnect(deps), deps.log);
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
  const { server } = bound.api;
  try {
    boundConnections(server, deps, bound.limits);
  } catch (error) {
    bound.close();
    await deps.close();
    throw error;
  }
  bound.api.serve(listener);
  bound.metrics?.serve(createMetricsListener(deps.metrics, deps.log));
  const { port } = server.address() as { port: number };
  const host = deps.config.host.includes(':') ? `[${deps.config.host}]` : deps.config.host;
  return {
    origin: `http://${host}:${port}`,
    metricsPort: deps.config.metricsPort || null,
    async stop() {
      await mcp.close();
      await Promise.all([bound.api, bound.metrics].map((each) => each && drain(each.server, bound.limits.drainMs)));
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
