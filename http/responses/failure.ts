import { ApiError } from '../../core/errors.ts';
import { isExhausted } from '../../core/exhausted.ts';
import { StorageError } from '../../db/store.ts';
import type { Reply } from '../contract.ts';
import type { Logger } from '../monitoring/log.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { oauthErrorReply, problemReply } from './problem.ts';

export interface FailureDeps {
  readonly log: Pick<Logger, 'error'>;
  /** Whether the storage failed when it was last used. */
  isStorageFailing(): boolean;
}

/** The operations that return OAuth errors. */
const OAUTH_OPERATIONS: ReadonlySet<string> = new Set(['issueToken', 'registerOAuthClient', 'revokeOAuthToken']);

/** Returns the response for an error of the API: a problem document, or an OAuth error at the endpoints of OAuth. */
export function errorReply(error: ApiError, exchange: Exchange): Reply {
  const headers = challengeOf(error, exchange);
  if (OAUTH_OPERATIONS.has(exchange.name)) return oauthErrorReply(error, headers, exchange.name);
  return problemReply(error, exchange.requestId, headers);
}

/**
 * Converts a thrown value to an ApiError; an ApiError is returned unchanged. A storage error becomes
 * STORAGE_UNAVAILABLE, a lack of memory or file descriptors SERVER_BUSY, and any other unexpected error INTERNAL_ERROR.
 * These errors are logged, except storage errors while the storage is known to fail.
 */
export function toApiError(thrown: unknown, exchange: Exchange, deps: FailureDeps): ApiError {
  if (thrown instanceof ApiError) return thrown;
  const isStorage = thrown instanceof StorageError;
  // `createStorageWatch` already logs that the storage has begun to fail.
  if (!isStorage || !deps.isStorageFailing()) {
    deps.log.error({ err: thrown, request_id: exchange.requestId }, 'request failed');
  }
  if (isStorage) {
    return new ApiError('STORAGE_UNAVAILABLE', 'The database is unavailable. Try again later.', { cause: thrown });
  }
  if (isExhausted(thrown)) {
    return new ApiError('SERVER_BUSY', 'The server has too many open files and connections. Try again soon.', {
      cause: thrown,
    });
  }
  return new ApiError('INTERNAL_ERROR', 'The request failed because of an internal error of the server.', {
    cause: thrown,
  });
}

/**
 * Returns the WWW-Authenticate header for a missing, invalid or insufficient token (RFC 6750 §3); no header for other
 * errors. It has no error code if the request has no credentials, and names the required scope if the token lacks it.
 */
function challengeOf(error: ApiError, { req }: Exchange): Record<string, string> {
  if (error.code === 'UNAUTHENTICATED') {
    const presented = req.headers.authorization !== undefined;
    return { 'www-authenticate': presented ? 'Bearer error="invalid_token"' : 'Bearer' };
  }
  if (error.code === 'INSUFFICIENT_SCOPE') {
    return { 'www-authenticate': `Bearer error="insufficient_scope", scope="${error.scope ?? ''}"` };
  }
  return {};
}
