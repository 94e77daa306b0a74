import type { IncomingMessage } from 'node:http';
import { BinaryBody } from '../../core/bodies/binary-body.ts';
import type { ApiError } from '../../core/errors.ts';
import type { Cause } from '../../core/events/events.ts';
import type { PageContext } from '../../web/connect/context.ts';
import type { Page as WholePage } from '../../web/connect/layout.ts';
import { faultPage, type Refusal, refusalPage } from '../../web/connect/message-pages.ts';
import { type BodyHold, type BodyMemory, bodyHoldOf } from '../body/body-hold.ts';
import type { Reply } from '../contract.ts';
import type { Environment } from '../pipeline/environments.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { respondUntyped } from '../responses/reply.ts';
import { pageContext } from './page-context.ts';

/** A request for a page whose environment is known. */
export interface PageCall {
  req: IncomingMessage;
  environment: Environment;
  requestId: string;
  /** Identifies the client by its address, for limits. */
  address: string;
  /** The language and the brand of the page. */
  context: PageContext;
  /** Reserves memory for the body of the request. */
  bodyHold: BodyHold;
  /** The environment, the actor and the request, for the audit log. The actor is the holder of a link by default. */
  cause: Cause;
}

/** A page or a redirect. */
export type PageReply = { cookie?: string } & (
  | {
      status: number;
      page: WholePage;
      /** The target of the page's form in the content security policy, if it is not an https URL. */
      formTarget?: string;
    }
  | { redirect: string }
);

/** The actor in the audit log for a user who has opened a link, because such a user is not identified. */
const ACTOR = 'link';

/** Returns the request for a page from an exchange whose environment is known. */
export function pageCall(exchange: Exchange, memory: BodyMemory): PageCall {
  const { req, requestId, address } = exchange;
  const environment = exchange.environment as Environment;
  const cause = { environmentId: environment.id, actor: ACTOR, requestId };
  const context = pageContext(req, environment);
  return { req, environment, requestId, address, cause, context, bodyHold: bodyHoldOf(exchange, memory) };
}

/** Returns the response that contains a page. */
export function pageReply(reply: PageReply, { environment, req }: Exchange): Reply {
  const headers = {
    'content-security-policy': policyOf(environment, reply),
    'cross-origin-resource-policy': 'same-origin',
    'x-frame-options': 'DENY',
    ...(reply.cookie && { 'set-cookie': reply.cookie }),
  };
  if ('redirect' in reply) return respondUntyped(303, undefined, { ...headers, location: reply.redirect });
  const body = new BinaryBody(Buffer.from(String(reply.page)));
  const kind = { 'content-type': 'text/html; charset=utf-8', 'content-language': reply.page.language };
  const whole = respondUntyped(reply.status, body, { ...headers, ...kind, vary: 'accept-language' });
  // Some pages have effects, which a HEAD request must not have. HEAD then gets another page, with a different length.
  return req.method === 'HEAD' ? { ...whole, omitsLength: true } : whole;
}

const REFUSALS: Readonly<Record<string, Refusal>> = {
  RATE_LIMITED: 'too_many',
  NOT_FOUND: 'not_found',
  METHOD_NOT_ALLOWED: 'method',
  UNKNOWN_HOST: 'host',
};

/** Returns a page with a fixed text for an error. */
export function errorPage(error: ApiError, exchange: Exchange): Reply {
  const { req, requestId, environment } = exchange;
  const context = pageContext(req, environment);
  const isFault = error.status >= 500;
  const page = isFault
    ? faultPage(context, requestId)
    : refusalPage(context, REFUSALS[error.code] ?? 'other', requestId);
  return pageReply({ status: error.status, page }, exchange);
}

/**
 * Allows only scripts of this server, no other hosts and no frames (threats L13, L15). Browsers apply `form-action` to
 * every redirect after a form: to the provider, through its sign-in, back here, and to the application. Those hosts are
 * not known in advance, so forms may lead to every https address.
 */
function policyOf(environment: Environment | undefined, reply: PageReply): string {
  const { formTarget = '' } = 'page' in reply ? reply : {};
  const script = 'page' in reply && reply.page.hasScript;
  // In development the application may use loopback addresses. A policy cannot contain `[::1]`.
  const targets = environment?.kind === 'DEVELOPMENT' ? 'https: http:' : 'https:';
  const sources = `default-src 'none'; ${script ? "script-src 'self'; " : ''}style-src 'self'; img-src 'self'`;
  const actions = ["'self'", targets, formTarget].filter(Boolean).join(' ');
  return `${sources}; form-action ${actions}; base-uri 'none'; frame-ancestors 'none'`;
}

export type Page = (call: PageCall, params: Readonly<Record<string, string>>) => PageReply | Promise<PageReply>;
