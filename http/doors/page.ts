import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Operation } from 'openapi-backend';
import { ApiError } from '../../core/errors.ts';
import type { Cause } from '../../core/events/events.ts';
import { isExhausted } from '../../core/exhausted.ts';
import { clientOf } from '../../core/net/client-address.ts';
import { StorageError } from '../../db/store.ts';
import { faultPage, refusalPage } from '../../web/connect/message-pages.ts';
import type { Html } from '../../web/html.ts';
import { type BodyHold, bodyHoldOf } from '../body-hold.ts';
import type { Deps } from '../deps.ts';
import type { Environment } from '../environments.ts';
import { Exchange } from '../exchange.ts';
import { createRateLimiter } from '../rate-limit.ts';

/** A request for a page, with what is known of it once its host is. */
export interface PageCall {
  req: IncomingMessage;
  environment: Environment;
  requestId: string;
  /** Counts the body of the request. */
  bodyHold: BodyHold;
  /** Who does what the page does, for the audit log: whoever has the link. */
  cause: Cause;
}

/** A page, or the way to another. */
export type PageReply = { cookie?: string } & ({ status: number; page: Html; script?: true } | { redirect: string });

export type PageHandler = (call: PageCall) => PageReply | Promise<PageReply>;

export type PageServer = (req: IncomingMessage, res: ServerResponse) => Promise<void>;

/** In the audit log: nobody knows who it is that has the link. */
const ACTOR = 'link';

/**
 * Serves pages by handlers. Every failure becomes a page with a fixed text. In the log a request is the name of its page, its status
 * and its time: addresses carry secrets here.
 */
export function createPages(deps: Deps): (name: string, handler: PageHandler) => PageServer {
  const limit = deps.config.rateLimit === null ? null : createRateLimiter(deps.config.rateLimit, deps.now);

  async function answer(exchange: Exchange, handler: PageHandler): Promise<PageReply> {
    const { req, requestId } = exchange;
    try {
      const environment = await deps.environmentOf(req.headers.host);
      exchange.environment = environment;
      if (limit && !limit(`${environment.id} ${clientOf(req.socket.remoteAddress)}`).allowed) {
        throw new ApiError('RATE_LIMITED', 'Too many requests come from your address.');
      }
      const cause = { environmentId: environment.id, actor: ACTOR, requestId };
      return await handler({ req, environment, requestId, cause, bodyHold: bodyHoldOf(exchange, deps) });
    } catch (error) {
      return failure(error, requestId);
    }
  }

  function failure(error: unknown, requestId: string): PageReply {
    if (error instanceof ApiError && error.status < 500) {
      return { status: error.status, page: refusalPage(error.message, requestId) };
    }
    if (error instanceof ApiError && error.code === 'SERVER_BUSY') return { status: 503, page: faultPage(requestId) };
    deps.log.error({ err: error, request_id: requestId }, 'page failed');
    const mayPass = error instanceof StorageError || isExhausted(error);
    return { status: mayPass ? 503 : 500, page: faultPage(requestId) };
  }

  return (name, handler) => async (req, res) => {
    const operation = { operationId: name } as Operation;
    const requestId = deps.newId('req');
    const exchange = new Exchange(req, res, requestId, operation);
    const reply = await answer(exchange, handler);
    const status = write(exchange, reply);
    deps.onAnswer(exchange, status);
  };
}

function write({ req, res, requestId, environment }: Exchange, reply: PageReply): number {
  const status = 'redirect' in reply ? 303 : reply.status;
  if (res.destroyed) return status;
  const text = 'redirect' in reply ? '' : String(reply.page);
  res.writeHead(status, {
    'cache-control': 'no-store',
    'content-security-policy': policyOf(environment, 'script' in reply),
    'cross-origin-resource-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'x-request-id': requestId,
    ...('redirect' in reply ? { location: reply.redirect } : { 'content-type': 'text/html; charset=utf-8' }),
    ...(reply.cookie && { 'set-cookie': reply.cookie }),
    ...((status === 429 || status === 503) && { 'retry-after': '1' }),
    // An unread body would be taken for the next request on this connection.
    ...(!req.complete && { connection: 'close' }),
    'content-length': Buffer.byteLength(text),
  });
  res.end(req.method === 'HEAD' ? '' : text);
  return status;
}

/**
 * No script but for one page, whose script is ours, nothing from elsewhere, no frame (threats L13, L15). Browsers hold `form-action` against every redirect that follows a
 * form: to the provider, through its sign-in, back here, and on to the application. Those hosts are not known beforehand.
 */
function policyOf(environment: Environment | undefined, hasScript: boolean): string {
  // In development the application may be on the loopback, one of whose addresses cannot stand in a policy.
  const targets = environment?.kind === 'DEVELOPMENT' ? 'https: http:' : 'https:';
  const sources = `default-src 'none'; ${hasScript ? "script-src 'self'; " : ''}style-src 'self'; img-src 'self'`;
  return `${sources}; form-action 'self' ${targets}; base-uri 'none'; frame-ancestors 'none'`;
}
