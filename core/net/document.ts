import type { OptionsInit, RetryObject } from 'got';
import { EgressError } from './egress-error.ts';

const MAX_REDIRECTS = 3;
const MAX_RETRIES = 2;
const RETRY_MS = 200;
/** A document is not requested again if the server asks for a longer wait. */
const MAX_RETRY_AFTER_MS = 1_000;
/** Statuses of servers that are starting, overloaded, or behind a gateway that cannot reach them. */
const TRANSIENT = new Set([429, 502, 503, 504]);

/**
 * Options of got for a public document, such as the metadata of an authorization server: a GET request without a
 * credential. It is retried after a temporary failure, and follows redirects within its origin. A redirect to another
 * origin is not followed, because another host's document would not be valid for this one. Calls with credentials are
 * not retried, because the first attempt may have had an effect.
 */
export const DOCUMENT_OPTIONS = {
  followRedirect: ({ url, headers }) => URL.parse(headers.location ?? '', url)?.origin === new URL(url).origin,
  maxRedirects: MAX_REDIRECTS,
  retry: { limit: MAX_RETRIES, methods: ['GET'], enforceRetryRules: false, calculateDelay: delayOf },
} satisfies OptionsInit;

/** @returns milliseconds until the next attempt; 0 for no further attempt */
function delayOf({ attemptCount, error, retryAfter }: RetryObject): number {
  if (attemptCount > MAX_RETRIES || (retryAfter ?? 0) > MAX_RETRY_AFTER_MS) return 0;
  // A server may allow an immediate attempt (`Retry-After: 0`), but for got a delay of 0 means no attempt.
  return mayPass(error) ? Math.max(retryAfter ?? 0, RETRY_MS * attemptCount) : 0;
}

function mayPass({ response, cause, code }: RetryObject['error']): boolean {
  if (response) return TRANSIENT.has(response.statusCode);
  if (cause instanceof EgressError) return cause.kind === 'unreachable';
  return code === 'ECONNRESET' || code === 'EPIPE';
}
