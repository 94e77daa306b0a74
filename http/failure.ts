import { ApiError } from '../core/errors.ts';
import { isExhausted } from '../core/exhausted.ts';
import { StorageError } from '../db/store.ts';
import type { Reply } from './contract.ts';
import type { Exchange } from './exchange.ts';
import type { Logger } from './log.ts';
import { oauthErrorReply, problemReply } from './problem.ts';

export interface FailureParts {
  readonly log: Pick<Logger, 'error'>;
  /** Whether the storage failed when it was last used. */
  isStorageFailing(): boolean;
}

/** The response for a failure of the API: a problem document, or the error of OAuth at the token endpoint. */
export function errorReply(error: ApiError, exchange: Exchange): Reply {
  const headers = challengeOf(error, exchange);
  if (exchange.name === 'issueToken') return oauthErrorReply(error, headers);
  return problemReply(error, exchange.requestId, headers);
}

/**
 * The expected failure that something thrown is, or stands for outside. What is not an expected failure is logged and reads "Internal
 * error" outside.
 */
export function toApiError(thrown: unknown, exchange: Exchange, parts: FailureParts): ApiError {
  if (thrown instanceof ApiError) return thrown;
  const isStorage = thrown instanceof StorageError;
  // A storage that begins to fail is logged by createStorageWatch.
  if (!isStorage || !parts.isStorageFailing()) {
    parts.log.error({ err: thrown, request_id: exchange.requestId }, 'request failed');
  }
  if (isStorage) {
    return new ApiError('STORAGE_UNAVAILABLE', 'The database is unavailable.', { cause: thrown });
  }
  if (isExhausted(thrown)) {
    return new ApiError('SERVER_BUSY', 'The server has too many open files and connections. Try again soon.', {
      cause: thrown,
    });
  }
  return new ApiError('INTERNAL_ERROR', 'The request failed because of an error of the server.', { cause: thrown });
}

/** RFC 6750 §3: a bare challenge without credentials, the error code with bad ones, the needed scope with weak ones. */
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
