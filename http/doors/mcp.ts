import type { IncomingMessage, ServerResponse } from 'node:http';
import type { McpServerFactory } from '@modelcontextprotocol/server';
import type { Operation } from 'openapi-backend';
import { findPattern, findProvider } from '../../core/connections/providers.ts';
import { ApiError } from '../../core/errors.ts';
import type { McpEndpoint } from '../../core/mcp/endpoint.ts';
import { createMcpEndpoint } from '../../core/mcp/endpoint.ts';
import { MCP_PATH, mcpServerUrl } from '../../core/mcp/server-definition.ts';
import { type McpSession, ownerOf, toAuthInfo } from '../../core/mcp/session.ts';
import { clientDescription, clientDocumentUrl } from '../../core/mcp/upstream/authorization.ts';
import { clientMetadataDocument } from '../../core/oauth/registration.ts';
import { bearerToken } from '../bearer.ts';
import { readBody } from '../body.ts';
import { holdUntilClosed } from '../body-hold.ts';
import { JSON_BODY } from '../body-rule.ts';
import { corsForAll, corsForOrigin, preflightHeaders } from '../cors.ts';
import type { Deps } from '../deps.ts';
import type { Environment } from '../environments.ts';
import { Exchange } from '../exchange.ts';
import { toApiError } from '../failure.ts';
import { createRateLimiter, rateLimitHeaders } from '../rate-limit.ts';
import { respondUntyped } from '../reply.ts';
import { isForeignOrigin } from '../same-origin.ts';
import { FIXED_HEADERS, writeReply } from '../write.ts';
import { mcpProblem } from './mcp-problem.ts';

/** What makes the product's MCP servers; the fixture of the conformance tests has others. */
export interface McpServing {
  /** @throws ApiError UNAUTHENTICATED */
  authenticate(environment: Environment, serverId: string, token: string, requestId: string): Promise<McpSession>;
  factory: McpServerFactory;
}

export interface McpMount {
  serve(req: IncomingMessage, res: ServerResponse): Promise<void>;
  close(): Promise<void>;
}

const SERVER_PATH = new RegExp(`^${MCP_PATH}/([A-Za-z0-9_-]{1,100})$`);
const METADATA_PATH = new RegExp(`^/\\.well-known/oauth-protected-resource${MCP_PATH}/([A-Za-z0-9_-]{1,100})$`);
const CLIENT_PATH = /^\/oauth\/client\/([A-Za-z0-9_-]{1,100})$/;
/** What a session has; without one there is no stream to open and nothing to end. */
const SESSION_METHODS = ['POST', 'GET', 'DELETE'];
const READ_METHODS = ['GET', 'HEAD'];

/** Whether a request is for the MCP servers or for what they say of themselves. */
export function isMcp(req: IncomingMessage): boolean {
  return /^\/(mcp|\.well-known\/oauth-protected-resource|oauth\/client)(\/|\?|$)/.test(req.url ?? '/');
}

/**
 * The MCP servers, in front of express like the operations: host, origin, token, rate limit and body are judged here, with the same
 * rules and in the same order; the protocol takes over after that.
 */
export function createMcpMount(deps: Deps, serving: McpServing): McpMount {
  const { rateLimit } = deps.config;
  const limit = rateLimit === null ? null : createRateLimiter(rateLimit, deps.now);
  let endpoint: Promise<McpEndpoint> | undefined;
  const endpointOf = () => {
    const { now, sealedTokens: sealed } = deps;
    const onError = (err: Error) => deps.log.debug({ err }, 'MCP request refused');
    endpoint ??= createMcpEndpoint(serving.factory, { now, sealed, onError });
    return endpoint;
  };

  async function answer(exchange: Exchange): Promise<number> {
    const { req } = exchange;
    const environment = await deps.environmentOf(req.headers.host);
    exchange.environment = environment;
    const path = pathOf(req);
    const [connectionId, described] = [CLIENT_PATH.exec(path)?.[1], METADATA_PATH.exec(path)?.[1]];
    if (connectionId !== undefined || described !== undefined) {
      Object.assign(exchange.answerHeaders, corsForAll());
      if (req.method === 'OPTIONS') return preflight(exchange, READ_METHODS);
      if (!READ_METHODS.includes(req.method ?? '')) throw notAllowed(exchange, READ_METHODS);
      return connectionId === undefined
        ? describe(exchange, environment, described as string)
        : describeClient(exchange, environment, connectionId);
    }
    if (isForeignOrigin(req, environment))
      throw new ApiError('ORIGIN_NOT_ALLOWED', 'Pages of other origins may not call MCP servers.');
    Object.assign(exchange.answerHeaders, corsForOrigin(req));
    const serverId = SERVER_PATH.exec(path)?.[1];
    if (serverId === undefined) throw new ApiError('NOT_FOUND', 'There is no MCP server at this address.');
    // A preflight carries no token.
    if (req.method === 'OPTIONS') return preflight(exchange, SESSION_METHODS);
    const session = await authenticate(exchange, environment, serverId);
    applyRateLimit(exchange, session);
    const methods = req.headers['mcp-session-id'] === undefined ? ['POST'] : SESSION_METHODS;
    if (!methods.includes(req.method ?? '')) throw notAllowed(exchange, methods);
    const hold = holdUntilClosed(deps.bodies.of(environment.id), exchange.res);
    const parsedBody = req.method === 'POST' ? (await readBody(req, JSON_BODY, hold)).value : undefined;
    if (req.method === 'POST' && parsedBody === undefined) throw new ApiError('MALFORMED_BODY', 'The body is empty.');
    return hand(exchange, session, parsedBody);
  }

  async function authenticate(exchange: Exchange, environment: Environment, serverId: string): Promise<McpSession> {
    const { req, requestId } = exchange;
    const token = bearerToken(req.headers.authorization) ?? '';
    try {
      return await serving.authenticate(environment, serverId, token, requestId);
    } catch (error) {
      if (error instanceof ApiError && error.code === 'UNAUTHENTICATED') {
        // RFC 9728 §5.1: where a client finds out how to get a token.
        const presented = req.headers.authorization === undefined ? '' : ' error="invalid_token",';
        const metadata = metadataUrl(environment, serverId);
        exchange.answerHeaders['www-authenticate'] = `Bearer${presented} resource_metadata="${metadata}"`;
      }
      throw error;
    }
  }

  function applyRateLimit(exchange: Exchange, { environment, grant }: McpSession): void {
    if (!limit) return;
    const state = limit(`${environment.id} client ${grant.clientId}`);
    Object.assign(exchange.answerHeaders, rateLimitHeaders(rateLimit as number, state));
    if (!state.allowed) throw new ApiError('RATE_LIMITED', 'The limit of requests per second is used up.');
  }

  /** The protocol answers: in one piece, or as a stream of events. */
  async function hand(exchange: Exchange, session: McpSession, parsedBody: unknown): Promise<number> {
    const { req, res, requestId, answerHeaders } = exchange;
    // One after the other: each takes much of a turn of the event loop when it is loaded.
    const { serve } = await endpointOf();
    const { toNodeHandler } = await import('@modelcontextprotocol/node');
    res.setHeaders(new Map(Object.entries({ ...FIXED_HEADERS, 'x-request-id': requestId, ...answerHeaders })));
    const known = {
      auth: toAuthInfo(session),
      owner: ownerOf(session),
      environmentId: session.environment.id,
      parsedBody,
      onEnd: (listener: () => void) => (res.closed ? listener() : void res.once('close', listener)),
    };
    const fetch = async (request: Request) => {
      const response = await serve(request, known);
      // The adapter sends the head with the first event, for which the client of a GET may wait long.
      if (req.method === 'GET') setImmediate(() => res.writableEnded || res.flushHeaders());
      return response;
    };
    await toNodeHandler({ fetch })(req, res as never, parsedBody);
    return res.statusCode;
  }

  /** RFC 9728 §2: what the server is, and whose tokens it takes. */
  function describe(exchange: Exchange, environment: Environment, serverId: string): number {
    const body = {
      resource: mcpServerUrl(environment, serverId),
      authorization_servers: [environment.baseUrl],
      bearer_methods_supported: ['header'],
    };
    writeReply(exchange, { status: 200, body, headers: {} } as never);
    return 200;
  }

  /** OAuth Client ID Metadata Document: what a connection is where its address is its client id. */
  async function describeClient(exchange: Exchange, environment: Environment, id: string): Promise<number> {
    const { read } = deps.store;
    const connection = await read.connections.get(environment.id, id);
    const clientId = clientDocumentUrl(environment, id);
    if (connection?.clientId !== clientId) throw new ApiError('NOT_FOUND', 'There is no such client.');
    const provider = await findProvider(read, deps.catalogue, environment.id, connection.providerKey);
    const pattern = provider && findPattern(provider, connection.type);
    if (!pattern) throw new ApiError('NOT_FOUND', 'There is no such client.');
    const body = clientMetadataDocument(clientId, clientDescription(environment, connection, pattern));
    writeReply(exchange, { status: 200, body, headers: {} } as never);
    return 200;
  }

  return {
    async serve(req, res) {
      const operation = { operationId: 'mcp' } as Operation;
      const requestId = deps.newId('req');
      const exchange = new Exchange(req, res, requestId, operation);
      let status: number;
      try {
        status = await answer(exchange);
      } catch (thrown) {
        const reply = mcpProblem(toApiError(thrown, exchange, deps), requestId);
        status = reply.status;
        writeReply(exchange, reply);
      }
      deps.onAnswer(exchange, status);
    },
    async close() {
      await (await endpoint)?.close();
    },
  };
}

function pathOf(req: IncomingMessage): string {
  return (req.url ?? '/').replace(/\?.*$/s, '');
}

function notAllowed(exchange: Exchange, methods: string[]): ApiError {
  exchange.answerHeaders['allow'] = methods.join(', ');
  return new ApiError('METHOD_NOT_ALLOWED', 'The path does not have this method.');
}

function preflight(exchange: Exchange, methods: readonly string[]): number {
  writeReply(exchange, respondUntyped(204, undefined, preflightHeaders(exchange.req, methods)));
  return 204;
}

function metadataUrl({ baseUrl }: Environment, serverId: string): string {
  return `${baseUrl}/.well-known/oauth-protected-resource${MCP_PATH}/${serverId}`;
}
