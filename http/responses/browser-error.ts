import type { IncomingMessage } from 'node:http';
import { BinaryBody } from '../../core/bodies/binary-body.ts';
import { type ApiError, ERRORS } from '../../core/errors.ts';
import { problemPage } from '../../web/docs/problem-page.ts';
import { acceptedRanges } from '../../web/languages/accepted-ranges.ts';
import type { Reply } from '../contract.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { errorReply } from './failure.ts';
import { respondUntyped } from './reply.ts';

const POLICY =
  "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const JSON_TYPES = new Set(['application/json', 'application/problem+json', 'application/*', '*/*']);

/** Whether a client prefers a page to JSON. Browsers do when they open an address. */
export function prefersPage({ headers }: IncomingMessage): boolean {
  const ranges = acceptedRanges(headers.accept).map((range) => range.toLowerCase());
  return ranges.find((range) => range === 'text/html' || JSON_TYPES.has(range)) === 'text/html';
}

/** Returns the response for an error at an address that people open in a browser: a page if the client prefers one. */
export function browserErrorReply(error: ApiError, exchange: Exchange): Reply {
  if (!prefersPage(exchange.req)) {
    const { headers, ...reply } = errorReply(error, exchange);
    return { ...reply, headers: { ...headers, vary: 'accept' } };
  }
  const page = problemPage({
    status: error.status,
    title: ERRORS[error.code].title,
    detail: error.message,
    requestId: exchange.requestId,
  });
  return respondUntyped(error.status, new BinaryBody(Buffer.from(String(page))), {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': POLICY,
    'x-frame-options': 'DENY',
    vary: 'accept',
  });
}
