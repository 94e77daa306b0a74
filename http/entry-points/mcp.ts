import type { IncomingMessage } from 'node:http';
import type { McpServerFactory } from '@modelcontextprotocol/server';
import { ApiError } from '../../core/errors.ts';
import type { McpEndpoint } from '../../core/mcp/endpoint.ts';
import { createMcpEndpoint } from '../../core/mcp/endpoint.ts';
import { createKnownSessions } from '../../core/mcp/known-sessions.ts';
import type { ListChanges } from '../../core/mcp/list-changes.ts';
import { createRunningCalls } from '../../core/mcp/running-calls.ts';
import { MCP_PATH } from '../../core/mcp/server-definition.ts';
import type { McpSession } from '../../core/mcp/session.ts';
import { allowsMessages } from '../../core/mcp-login/scopes.ts';
import { createOpenedTokens } from '../../core/vault/opened-tokens.ts';
import type { SealedTokens } from '../../core/vault/sealed-token.ts';
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
import { cancelDirectCalls, type ServeDirectCall, serveDirectly } from './mcp-direct.ts';
import { createMcpDocuments, type McpDocumentDeps } from './mcp-documents.ts';
import { mcpProblem } from './mcp-problem.ts';
import { serveProtocol } from './mcp-protocol.ts';

export interface McpDeps extends BodyMemory, McpDocumentDeps {
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
  /** Watches the lists of tools, resources and prompts for clients that wait for changes. */
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
/** The name of a method of MCP, such as `tools/call` or `notifications/tools/list_changed`. */
const METHOD = /^[a-z_]{1,32}(\/[a-z_]{1,32}){0,3}$/i;

/** Whether a request is for the MCP servers or for the documents that describe them. */
export function isMcp(req: IncomingMessage): boolean {
  return /^\/(mcp|\.well-known\/oauth-protected-resource|oauth\/client)(\/|\?|$)/.test(req.url ?? '/');
}

/**
 * Serves MCP servers and the documents about them. Host, origin, token, rate limit and body are checked before the
 * protocol is processed.
 */
export function createMcpEntryPoint(deps: McpDeps, serving: McpServing, pipeline: Pipeline): McpEntryPoint {
  const documents = createMcpDocuments(deps);
  const sessions = {
    known: createKnownSessions(createOpenedTokens(deps.sealedTokens, deps.now)),
    running: createRunningCalls(),
  };
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
    void deps.store.shareReads();
    const environment = await pipeline.findEnvironment(exchange);
    const path = pathOf(req);
    const [connectionId, described] = [CLIENT_PATH.exec(path)?.[1], METADATA_PATH.exec(path)?.[1]];
    if (connectionId !== undefined || described !== undefined) {
      Object.assign(exchange.responseHeaders, corsForAll());
      if (req.method === 'OPTIONS') return preflight(req, READ_METHODS);
      if (!READ_METHODS.includes(req.method ?? '')) throw notAllowed(exchange, READ_METHODS);
      pipeline.limit(exchange);
      return connectionId === undefined
        ? documents.server(exchange, described as string)
        : documents.client(environment, connectionId);
    }
    if (isForeignOrigin(req, environment))
      throw new ApiError(
        'ORIGIN_NOT_ALLOWED',
        'The Origin header is not allowed: only pages of the environment may call its MCP servers.',
      );
    Object.assign(exchange.responseHeaders, corsForOrigin(req));
    const serverId = SERVER_PATH.exec(path)?.[1];
    if (serverId === undefined) {
      const advice = 'Use mcp_server_url of a connection or of an MCP config.';
      throw new ApiError('NOT_FOUND', `There is no MCP server at this address. ${advice}`);
    }
    // A preflight carries no token.
    if (req.method === 'OPTIONS') return preflight(req, SESSION_METHODS);
    const session = await authenticate(exchange, environment, serverId);
    exchange.client = { clientId: session.grant.clientId, scopes: [], actor: session.grant.clientId };
    pipeline.limit(exchange);
    const methods = req.headers['mcp-session-id'] === undefined ? ['POST'] : SESSION_METHODS;
    if (!methods.includes(req.method ?? '')) throw notAllowed(exchange, methods);
    const hold = bodyHoldOf(exchange, deps);
    const parsedBody = req.method === 'POST' ? (await readBody(req, JSON_BODY, hold)).value : undefined;
    if (req.method === 'POST' && parsedBody === undefined)
      throw new ApiError('MALFORMED_BODY', 'The body is empty, but must be a JSON-RPC message.');
    exchange.mcpMethod = methodOf(parsedBody);
    if (!allowsMessages(session.grant.scopes, parsedBody)) {
      exchange.responseHeaders['www-authenticate'] = await documents.challenge(
        exchange,
        serverId,
        'insufficient_scope',
      );
      throw new ApiError('INSUFFICIENT_SCOPE', 'The access token lacks the scope tools:call.', { scope: 'tools:call' });
    }
    const { log } = deps;
    const { call: serve } = serving;
    return inMessageTrace(exchange, parsedBody, async () => {
      const status = serve && (await serveDirectly({ ...sessions, serve, log }, exchange, session, parsedBody));
      if (status !== undefined) return status;
      cancelDirectCalls(sessions, exchange, session, parsedBody);
      return serveProtocol(await endpointOf(), exchange, session, parsedBody);
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
        exchange.responseHeaders['www-authenticate'] = await documents.challenge(exchange, serverId, fault);
      }
      throw error;
    }
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
  const allow = methods.join(', ');
  exchange.responseHeaders['allow'] = allow;
  return new ApiError('METHOD_NOT_ALLOWED', `The path does not support this method (supported: ${allow}).`);
}

function preflight(req: IncomingMessage, methods: readonly string[]): Reply {
  return respondUntyped(204, undefined, preflightHeaders(req, methods));
}

/** Returns the method of a message, for traces; undefined for a text that does not have the form of a method name. */
function methodOf(body: unknown): string | undefined {
  const { method } = (body ?? {}) as { method?: unknown };
  return typeof method === 'string' && METHOD.test(method) ? method : undefined;
}
