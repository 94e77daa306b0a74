import type { IncomingMessage } from 'node:http';
import type { McpServerFactory } from '@modelcontextprotocol/server';
import { findPattern, findProvider } from '../../core/connections/providers.ts';
import type { Catalogue } from '../../core/connectors/catalogue.ts';
import { isLoopbackName } from '../../core/environments/hosts.ts';
import { ApiError } from '../../core/errors.ts';
import type { McpEndpoint } from '../../core/mcp/endpoint.ts';
import { createMcpEndpoint } from '../../core/mcp/endpoint.ts';
import { createKnownSessions } from '../../core/mcp/known-sessions.ts';
import type { ListChanges } from '../../core/mcp/list-changes.ts';
import { createRunningCalls } from '../../core/mcp/running-calls.ts';
import { MCP_PATH, mcpServerUrl } from '../../core/mcp/server-definition.ts';
import { type McpSession, ownerOf, toAuthInfo } from '../../core/mcp/session.ts';
import { clientDescription, clientDocumentUrl } from '../../core/mcp/upstream/authorization.ts';
import { allowsMethod, CHALLENGED_SCOPES, MCP_SCOPES } from '../../core/mcp-login/scopes.ts';
import { clientMetadataDocument } from '../../core/oauth/registration.ts';
import type { SealedTokens } from '../../core/vault/sealed-token.ts';
import type { ReadRepositories } from '../../db/store.ts';
import { readBody } from '../body/body.ts';
import { type BodyMemory, bodyHoldOf } from '../body/body-hold.ts';
import { JSON_BODY } from '../body/body-rule.ts';
import type { Reply } from '../contract.ts';
import type { Logger } from '../monitoring/log.ts';
import { bearerToken } from '../pipeline/bearer.ts';
import { corsForAll, corsForOrigin, preflightHeaders } from '../pipeline/cors.ts';
import type { Environment } from '../pipeline/environments.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import type { EntryPoint, Pipeline } from '../pipeline/pipeline.ts';
import { inMessageTrace } from '../pipeline/request-span.ts';
import { isForeignOrigin } from '../pipeline/same-origin.ts';
import { respondUntyped } from '../responses/reply.ts';
import { commonHeaders } from '../responses/write.ts';
import { cancelDirectCalls, type ServeDirectCall, serveDirectly } from './mcp-direct.ts';
import { mcpProblem } from './mcp-problem.ts';

export interface McpDeps extends BodyMemory {
  readonly store: { readonly read: ReadRepositories };
  readonly catalogue: Catalogue;
  readonly sealedTokens: SealedTokens;
  readonly log: Pick<Logger, 'debug' | 'error'>;
  /** Milliseconds UTC. */
  now(): number;
}

/** The functions that provide MCP servers. The server for the conformance tests has its own. */
export interface McpServing {
  /** @throws ApiError UNAUTHENTICATED */
  authenticate(environment: Environment, serverId: string, token: string, requestId: string): Promise<McpSession>;
  factory: McpServerFactory;
  /** Watches the lists for clients that wait for changes. */
  changes?: Pick<ListChanges, 'watch'>;
  /** Runs calls that do not need the MCP SDK. If it is absent, the SDK serves all requests. */
  call?: ServeDirectCall;
}

export interface McpEntryPoint extends EntryPoint {
  close(): Promise<void>;
}

const SERVER_PATH = new RegExp(`^${MCP_PATH}/([A-Za-z0-9_-]{1,100})$`);
const METADATA_PATH = new RegExp(`^/\\.well-known/oauth-protected-resource${MCP_PATH}/([A-Za-z0-9_-]{1,100})$`);
const CLIENT_PATH = /^\/oauth\/client\/([A-Za-z0-9_-]{1,100})$/;
/** The methods of requests that can belong to a session: GET opens its stream, DELETE ends it. */
const SESSION_METHODS = ['POST', 'GET', 'HEAD', 'DELETE'];
const READ_METHODS = ['GET', 'HEAD'];
/** Such as `tools/call` and `notifications/tools/list_changed`. */
const METHOD = /^[a-z_]{1,32}(\/[a-z_]{1,32}){0,3}$/i;

/** Returns the head of a response, whose stream is ended. */
async function headOf({ body, status, headers }: Response): Promise<Response> {
  await body?.cancel();
  return new Response(null, { status, headers });
}

/** Whether a request is for the MCP servers or for the documents that describe them. */
export function isMcp(req: IncomingMessage): boolean {
  return /^\/(mcp|\.well-known\/oauth-protected-resource|oauth\/client)(\/|\?|$)/.test(req.url ?? '/');
}

/**
 * Serves MCP servers and the documents about them. Host, origin, token, rate limit and body are checked before the
 * protocol is processed.
 */
export function createMcpEntryPoint(deps: McpDeps, serving: McpServing, pipeline: Pipeline): McpEntryPoint {
  const sessions = { known: createKnownSessions(deps.sealedTokens), running: createRunningCalls() };
  let endpoint: Promise<McpEndpoint> | undefined;
  const endpointOf = () => {
    const { now, sealedTokens: sealed } = deps;
    const onError = (err: Error) => deps.log.debug({ err }, 'MCP request refused');
    const { changes } = serving;
    endpoint ??= createMcpEndpoint(serving.factory, { now, sealed, known: sessions.known, changes, onError });
    return endpoint;
  };

  async function dispatch(exchange: Exchange): Promise<Reply | number> {
    const { req } = exchange;
    const environment = await pipeline.findEnvironment(exchange);
    const path = pathOf(req);
    const [connectionId, described] = [CLIENT_PATH.exec(path)?.[1], METADATA_PATH.exec(path)?.[1]];
    if (connectionId !== undefined || described !== undefined) {
      Object.assign(exchange.responseHeaders, corsForAll());
      if (req.method === 'OPTIONS') return preflight(req, READ_METHODS);
      if (!READ_METHODS.includes(req.method ?? '')) throw notAllowed(exchange, READ_METHODS);
      pipeline.limit(exchange);
      return connectionId === undefined
        ? describe(exchange, described as string)
        : describeClient(environment, connectionId);
    }
    if (isForeignOrigin(req, environment))
      throw new ApiError(
        'ORIGIN_NOT_ALLOWED',
        'The Origin header is not allowed: only pages of the environment may call its MCP servers.',
      );
    Object.assign(exchange.responseHeaders, corsForOrigin(req));
    const serverId = SERVER_PATH.exec(path)?.[1];
    if (serverId === undefined) throw new ApiError('NOT_FOUND', 'There is no MCP server at this address.');
    // A preflight carries no token.
    if (req.method === 'OPTIONS') return preflight(req, SESSION_METHODS);
    const session = await authenticate(exchange, environment, serverId);
    exchange.client = { clientId: session.grant.clientId, scopes: [], actor: session.grant.clientId };
    pipeline.limit(exchange);
    const methods = req.headers['mcp-session-id'] === undefined ? ['POST'] : SESSION_METHODS;
    if (!methods.includes(req.method ?? '')) throw notAllowed(exchange, methods);
    const hold = bodyHoldOf(exchange, deps);
    const parsedBody = req.method === 'POST' ? (await readBody(req, JSON_BODY, hold)).value : undefined;
    if (req.method === 'POST' && parsedBody === undefined) throw new ApiError('MALFORMED_BODY', 'The body is empty.');
    exchange.mcpMethod = methodOf(parsedBody);
    if (!allowsBody(session.grant.scopes, parsedBody)) {
      exchange.responseHeaders['www-authenticate'] = await challenge(exchange, serverId, 'insufficient_scope');
      throw new ApiError('INSUFFICIENT_SCOPE', 'The access token does not allow tool calls.', { scope: 'tools:call' });
    }
    const { log } = deps;
    const { call: serve } = serving;
    return inMessageTrace(exchange, parsedBody, async () => {
      const status = serve && (await serveDirectly({ ...sessions, serve, log }, exchange, session, parsedBody));
      return status ?? hand(exchange, session, parsedBody);
    });
  }

  async function authenticate(exchange: Exchange, environment: Environment, serverId: string): Promise<McpSession> {
    const { req, requestId } = exchange;
    const token = bearerToken(req.headers.authorization) ?? '';
    try {
      return await serving.authenticate(environment, serverId, token, requestId);
    } catch (error) {
      if (error instanceof ApiError && error.code === 'UNAUTHENTICATED') {
        const fault = req.headers.authorization === undefined ? undefined : 'invalid_token';
        exchange.responseHeaders['www-authenticate'] = await challenge(exchange, serverId, fault);
      }
      throw error;
    }
  }

  /** Sends the response of the protocol: JSON, or a stream of events. */
  async function hand(exchange: Exchange, session: McpSession, parsedBody: unknown): Promise<number> {
    const { req, res } = exchange;
    cancelDirectCalls(sessions, exchange, session, parsedBody);
    // Awaited one after the other, because loading each of them blocks the event loop for some time.
    const { serve } = await endpointOf();
    const { toNodeHandler } = await import('@modelcontextprotocol/node');
    res.setHeaders(new Map(Object.entries(commonHeaders(exchange))));
    const known = {
      auth: toAuthInfo(session),
      owner: ownerOf(session),
      environmentId: session.environment.id,
      parsedBody,
      onEnd: (listener: () => void) => (res.closed ? listener() : void res.once('close', listener)),
      end: () => void res.end(),
    };
    const fetch = async (request: Request) => {
      if (req.method === 'HEAD') return headOf(await serve(new Request(request, { method: 'GET' }), known));
      const response = await serve(request, known);
      if (req.method !== 'GET') return response;
      // The connection is closed with the stream, so that nothing is stored for a client that does not read.
      response.headers.set('connection', 'close');
      // Otherwise the head would be sent only with the first event, which may take long.
      setImmediate(() => res.writableEnded || res.flushHeaders());
      return response;
    };
    await toNodeHandler({ fetch })(req, res as never, parsedBody);
    return res.statusCode;
  }

  /** The protected resource metadata of a server (RFC 9728 §2). */
  async function describe(exchange: Exchange, serverId: string): Promise<Reply> {
    const environment = exchange.environment as Environment;
    const external = await externalServerOf(environment);
    const scopes = external ? external.scopes : MCP_SCOPES;
    const body = {
      resource: mcpServerUrl({ baseUrl: requestedOrigin(exchange) }, serverId),
      authorization_servers: [external?.issuer ?? environment.baseUrl],
      ...(scopes.length > 0 && { scopes_supported: scopes }),
      bearer_methods_supported: ['header'],
    };
    return respondUntyped(200, body);
  }

  /** Returns the external authorization server of an environment, and the scopes that clients request there. */
  async function externalServerOf({
    id,
  }: Environment): Promise<{ issuer: string; scopes: readonly string[] } | undefined> {
    const provider = await deps.store.read.loginProviders.get(id);
    return provider?.jwt ? { issuer: provider.issuer, scopes: provider.jwt.scopes } : undefined;
  }

  /**
   * Returns the challenge for a request without a sufficient token (RFC 6750 §3, RFC 9728 §5.1). It tells the client
   * where to get one, and lists all scopes that tools can need, because clients request exactly these.
   */
  async function challenge(exchange: Exchange, serverId: string, error: string | undefined): Promise<string> {
    const metadata = `${requestedOrigin(exchange)}/.well-known/oauth-protected-resource${MCP_PATH}/${serverId}`;
    const external = await externalServerOf(exchange.environment as Environment);
    const scope = external ? external.scopes.join(' ') : CHALLENGED_SCOPES;
    const parameters = [
      ...(error === undefined ? [] : [`error="${error}"`]),
      `resource_metadata="${metadata}"`,
      ...(scope === '' ? [] : [`scope="${scope}"`]),
    ];
    return `Bearer ${parameters.join(', ')}`;
  }

  /** Returns the OAuth Client ID Metadata Document of a connection whose client id is the address of this document. */
  async function describeClient(environment: Environment, id: string): Promise<Reply> {
    const { read } = deps.store;
    const connection = await read.connections.get(environment.id, id);
    const clientId = clientDocumentUrl(environment, id);
    if (connection?.clientId !== clientId) throw new ApiError('NOT_FOUND', 'The client does not exist.');
    const provider = await findProvider(read, deps.catalogue, environment.id, connection.providerKey);
    const pattern = provider && findPattern(provider, connection.type);
    if (!pattern) throw new ApiError('NOT_FOUND', 'The client does not exist.');
    const body = clientMetadataDocument(clientId, clientDescription(environment, connection, pattern));
    return respondUntyped(200, body);
  }

  return {
    name: 'mcp',
    dispatch,
    showError: (error, { requestId }) => mcpProblem(error, requestId),
    async close() {
      sessions.running.close();
      await (await endpoint)?.close();
    },
  };
}

function pathOf(req: IncomingMessage): string {
  return (req.url ?? '/').replace(/\?.*$/s, '');
}

function notAllowed(exchange: Exchange, methods: string[]): ApiError {
  exchange.responseHeaders['allow'] = methods.join(', ');
  return new ApiError('METHOD_NOT_ALLOWED', 'The path does not support this method.');
}

function preflight(req: IncomingMessage, methods: readonly string[]): Reply {
  return respondUntyped(204, undefined, preflightHeaders(req, methods));
}

/**
 * Returns the origin of the server with the host name of the request (RFC 9728 §3.3), because clients compare it with
 * the address that their user has typed. All names of an environment are behind the same proxy; only loopback names may
 * be used without it.
 */
function requestedOrigin({ req, environment }: Exchange): string {
  const { baseUrl, kind } = environment as Environment;
  const host = (req.headers.host ?? '').toLowerCase();
  const base = new URL(baseUrl);
  if (host === base.host) return baseUrl;
  const asked = URL.parse(`${base.protocol}//${host}`);
  if (!asked || asked.host === '') return baseUrl;
  const isLocal = kind === 'DEVELOPMENT' && isLoopbackName(asked.hostname);
  return isLocal ? `http://${host}` : asked.origin;
}

/** Returns the method of a message for traces. Clients choose it, so other texts are left out. */
function methodOf(body: unknown): string | undefined {
  const { method } = (body ?? {}) as { method?: unknown };
  return typeof method === 'string' && METHOD.test(method) ? method : undefined;
}

/** Whether scopes allow every message in a body, which is one message or a list. */
function allowsBody(scopes: readonly string[], body: unknown): boolean {
  const messages = (Array.isArray(body) ? body : [body]) as ({ method?: unknown } | null | undefined)[];
  return messages.every((message) => allowsMethod(scopes, message?.method));
}
