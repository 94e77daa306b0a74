import type { IncomingMessage, ServerResponse } from 'node:http';
import { StreamedBody } from '../../core/bodies/streamed-body.ts';
import { ApiError } from '../../core/errors.ts';
import { createClientLookup, parseTrustedProxies } from '../../core/net/client-address.ts';
import { inSpan, type SpanFacts } from '../../core/spans.ts';
import { type Config, readSetting } from '../config/config.ts';
import type { Reply } from '../contract.ts';
import { type FailureDeps, toApiError } from '../responses/failure.ts';
import { retryAfterOf } from '../responses/problem.ts';
import { writeReply } from '../responses/write.ts';
import { leftSignal, writeStream } from '../responses/write-stream.ts';
import type { Environment } from './environments.ts';
import { Exchange } from './exchange.ts';
import { createRateLimiter, rateLimitHeaders } from './rate-limit.ts';
import { endRequestSpan, requestSpan } from './request-span.ts';

const REQUEST_ID = /^[A-Za-z0-9._-]{1,100}$/;

/**
 * A part of the server that serves one kind of requests, such as the operations of the contract, pages, MCP or raw
 * calls. Entry points differ in how they process requests and format errors.
 */
export interface EntryPoint {
  /** The name of its requests in the log and the metrics, until the entry point sets a better one. */
  readonly name: string;
  /** Serves a request. @returns the response, or the status of a response that the entry point has written itself */
  dispatch(exchange: Exchange): Promise<Reply | number>;
  /** Returns the response for an expected error. */
  showError(error: ApiError, exchange: Exchange): Reply;
}

export type Listener = (req: IncomingMessage, res: ServerResponse) => void;

export interface Pipeline {
  /**
   * Returns the request listener of an entry point. Every request gets exactly one response and one log line, even
   * after a failure.
   */
  listen(entryPoint: EntryPoint): Listener;
  /** Sets the environment of a request, by its host. @throws ApiError UNKNOWN_HOST */
  findEnvironment(exchange: Exchange): Environment | Promise<Environment>;
  /**
   * Counts the request against the rate limit of its client, or of its address if it has no token. All entry points
   * share this limit. Has no effect if no rate limit is set, or if the environment of the request is unknown.
   *
   * @throws ApiError RATE_LIMITED
   */
  limit(exchange: Exchange): void;
}

export interface PipelineDeps extends FailureDeps {
  readonly config: Pick<Config, 'rateLimit' | 'trustedProxies'>;
  /** Milliseconds UTC. */
  now(): number;
  newId(prefix: 'req'): string;
  /** @throws ApiError UNKNOWN_HOST */
  environmentOf(hostHeader: string | undefined): Environment | Promise<Environment>;
  /** How many processes share the rate limits, including this one. */
  liveInstances(): number;
  /** Called for every response that was written. */
  onResponse(exchange: Exchange, status: number): void;
}

/**
 * Creates the steps that all entry points share: request id, environment, rate limit, errors, log and metrics.
 *
 * @throws ConfigError if VALETKEY_TRUSTED_PROXIES is invalid
 */
export function createPipeline(deps: PipelineDeps): Pipeline {
  const perSecond = deps.config.rateLimit;
  const clientOf = createClientLookup(readSetting(() => parseTrustedProxies(deps.config.trustedProxies)));
  const take = perSecond === null ? null : createRateLimiter(perSecond, deps.now, deps.liveInstances);

  function requestIdOf({ headers }: IncomingMessage): string {
    const given = headers['x-request-id'];
    return typeof given === 'string' && REQUEST_ID.test(given) ? given : deps.newId('req');
  }

  function errorReply(thrown: unknown, entryPoint: EntryPoint, exchange: Exchange): Reply {
    const error = toApiError(thrown, exchange, deps);
    exchange.authFailure ??= error.authFailure;
    const { responseHeaders } = exchange;
    // The rate limiter has already set a more precise Retry-After.
    if (!('retry-after' in responseHeaders)) Object.assign(responseHeaders, retryAfterOf(error));
    return entryPoint.showError(error, exchange);
  }

  async function serve(entryPoint: EntryPoint, exchange: Exchange, span: SpanFacts): Promise<void> {
    let reply: Reply | number;
    let left: AbortSignal | undefined;
    try {
      reply = await entryPoint.dispatch(exchange);
      if (typeof reply !== 'number' && reply.body instanceof StreamedBody) {
        left = leftSignal(exchange);
        await reply.body.begin(left);
      }
    } catch (thrown) {
      reply = errorReply(thrown, entryPoint, exchange);
    }
    if (typeof reply !== 'number') {
      if (left && reply.body instanceof StreamedBody) await writeStream(exchange, reply, reply.body, left);
      else writeReply(exchange, reply);
    }
    const status = typeof reply === 'number' ? reply : reply.status;
    endRequestSpan(span, exchange, status);
    deps.onResponse(exchange, status);
  }

  return {
    listen: (entryPoint) => (req, res) => {
      const exchange = new Exchange(req, res, requestIdOf(req), entryPoint.name, clientOf);
      const served = inSpan(
        () => requestSpan(exchange),
        (span) => serve(entryPoint, exchange, span),
      );
      served.catch((err: unknown) => {
        // The error occurred outside of the error handling, so it closes this connection, but does not end the process.
        deps.log.error({ err, request_id: exchange.requestId }, 'a response could not be written');
        res.destroy();
      });
    },
    findEnvironment(exchange) {
      const found = deps.environmentOf(exchange.req.headers.host);
      if (!(found instanceof Promise)) {
        exchange.environment = found;
        return found;
      }
      return found.then((environment) => {
        exchange.environment = environment;
        return environment;
      });
    },
    limit(exchange) {
      const { environment, client, responseHeaders } = exchange;
      if (!take || !environment) return;
      const caller = client ? `client ${client.clientId}` : `address ${exchange.address}`;
      const state = take(`${environment.id} ${caller}`);
      Object.assign(responseHeaders, rateLimitHeaders(perSecond as number, state));
      if (!state.allowed)
        throw new ApiError('RATE_LIMITED', 'The rate limit is exceeded. Try again after the seconds in Retry-After.');
    },
  };
}
