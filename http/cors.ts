import type { IncomingMessage } from 'node:http';

/** How long a browser remembers what a preflight said, in seconds. */
const MAX_AGE_S = 7200;

/** Headers of responses that a page may read. */
const EXPOSED = 'Mcp-Session-Id, RateLimit, Retry-After, WWW-Authenticate, X-Request-Id';

/** Lists of field names (RFC 9110 §5.6.2). */
const HEADER_NAMES = /^[A-Za-z0-9!#$%&'*+.^_`|~, -]{1,1000}$/;

/**
 * Lets pages of every origin read a response (Fetch standard §3.3). For what is public, or needs a token or a secret that a page does
 * not get by itself: no cookie has any effect there.
 */
export function corsForAll(): Record<string, string> {
  return { 'access-control-allow-origin': '*', 'access-control-expose-headers': EXPOSED };
}

/** Lets pages of the request's own origin read its response. Only for an origin that was judged. */
export function corsForOrigin({ headers }: IncomingMessage): Record<string, string> {
  const { origin } = headers;
  const vary = { vary: 'Origin' };
  if (origin === undefined) return vary;
  return { ...vary, 'access-control-allow-origin': origin, 'access-control-expose-headers': EXPOSED };
}

/** Allows every header that a preflight names, because no header has an effect without a token. */
export function preflightHeaders({ headers }: IncomingMessage, methods: readonly string[]): Record<string, string> {
  const requested = headers['access-control-request-headers'] ?? '';
  return {
    allow: [...methods, 'OPTIONS'].join(', '),
    'access-control-allow-methods': methods.join(', '),
    ...(HEADER_NAMES.test(requested) && { 'access-control-allow-headers': requested }),
    'access-control-max-age': String(MAX_AGE_S),
  };
}
