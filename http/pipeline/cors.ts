import type { IncomingMessage } from 'node:http';

/** How long a browser caches the result of a preflight request, in seconds. */
const MAX_AGE_S = 7200;

/** The response headers that a page may read. */
const EXPOSED = 'Mcp-Session-Id, RateLimit, Retry-After, WWW-Authenticate, X-Request-Id';

/** A list of header names (RFC 9110 §5.6.2). */
const HEADER_NAMES = /^[A-Za-z0-9!#$%&'*+.^_`|~, -]{1,1000}$/;

/**
 * Allows pages of every origin to read a response (Fetch standard §3.3). Only for public responses, and for requests
 * that need a token or secret: cookies have no effect on them, so a page cannot misuse a user's session.
 */
export function corsForAll(): Record<string, string> {
  return { 'access-control-allow-origin': '*', 'access-control-expose-headers': EXPOSED };
}

/** Allows pages of the request's own origin to read the response. Only for an origin that was checked. */
export function corsForOrigin({ headers }: IncomingMessage): Record<string, string> {
  const { origin } = headers;
  const vary = { vary: 'Origin' };
  if (origin === undefined) return vary;
  return { ...vary, 'access-control-allow-origin': origin, 'access-control-expose-headers': EXPOSED };
}

/**
 * Returns the headers of the response to a preflight request. They allow the given methods, and every header that the
 * request names, because no header has an effect without a token.
 */
export function preflightHeaders({ headers }: IncomingMessage, methods: readonly string[]): Record<string, string> {
  const requested = headers['access-control-request-headers'] ?? '';
  return {
    allow: [...methods, 'OPTIONS'].join(', '),
    'access-control-allow-methods': methods.join(', '),
    ...(HEADER_NAMES.test(requested) && { 'access-control-allow-headers': requested }),
    'access-control-max-age': String(MAX_AGE_S),
  };
}
