import type { ErrorCode } from '../../core/errors.ts';
import { type ApiError, ERRORS } from '../../core/errors.ts';
import type { Reply } from '../contract.ts';
import { respondUntyped } from './reply.ts';

const PROBLEM_JSON = { 'content-type': 'application/problem+json' };

/** OAuth error codes (RFC 6749 §5.2) by status, for errors that do not come from the token handler itself. */
const OAUTH_ERRORS: Partial<Record<number, string>> = {
  400: 'invalid_request',
  401: 'invalid_client',
  413: 'invalid_request',
  421: 'invalid_request',
  429: 'temporarily_unavailable',
  500: 'server_error',
  503: 'temporarily_unavailable',
};

/** The Retry-After in seconds for temporary errors without a more precise value. */
const RETRY_AFTER_S: Partial<Record<ErrorCode, number>> = { STORAGE_UNAVAILABLE: 5, SERVER_BUSY: 1, RATE_LIMITED: 1 };

/**
 * Returns the Retry-After header of a temporary error, or of a provider that says when to call again. Returns no header
 * for other errors, and for requests that must not be repeated.
 */
export function retryAfterOf({ code, retryAfterMs }: ApiError): Record<string, string> {
  if (retryAfterMs === null) return {};
  const seconds = retryAfterMs === undefined ? RETRY_AFTER_S[code] : Math.max(1, Math.ceil(retryAfterMs / 1000));
  return seconds === undefined ? {} : { 'retry-after': String(seconds) };
}

/** Builds the problem document (RFC 9457) of an expected error. */
function problem(error: ApiError, requestId: string): Record<string, unknown> {
  const { status, title } = ERRORS[error.code];
  return {
    type: typeOf(error.code),
    title,
    status,
    detail: error.message,
    code: error.code,
    request_id: requestId,
    ...(error.errors && { errors: error.errors }),
    ...error.extra,
  };
}

export function problemReply(error: ApiError, requestId: string, headers: Record<string, string> = {}): Reply {
  return respondUntyped(error.status, problem(error, requestId), { ...PROBLEM_JSON, ...headers });
}

/**
 * Returns the error object of RFC 6749 §5.2 and RFC 7591 §3.2.2, which the endpoints of OAuth always use. It has no
 * list of fields.
 */
export function oauthErrorReply(error: ApiError, headers: Record<string, string> = {}, operationId = ''): Reply {
  const status = error.status === 415 || error.status === 422 ? 400 : error.status;
  const named = error.errors?.map(({ field, message }) => `${field}: ${message}`).join('; ');
  const description = named ? `${error.message} ${named}` : error.message;
  const isMetadata = status === 400 && operationId === 'registerOAuthClient';
  const code = isMetadata ? 'invalid_client_metadata' : (OAUTH_ERRORS[status] ?? 'invalid_request');
  const body = { error: code, error_description: asciiOnly(description) };
  return respondUntyped(status, body, { 'content-type': 'application/json', ...headers });
}

/**
 * Replaces characters that RFC 6749 §5.2 does not allow in `error_description`: only printable ASCII without quote and
 * backslash is allowed.
 */
function asciiOnly(text: string): string {
  return text.replace(/["\\]/g, "'").replace(/[^\x20-\x7e]/g, '?');
}

/** Returns a relative URL of the served documentation. */
function typeOf(code: ErrorCode): string {
  return `/docs/errors#${code.toLowerCase()}`;
}
