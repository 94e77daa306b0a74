import type { AuthorizationType } from '../connectors/auth-pattern.ts';
import { ApiError, type ErrorCode } from '../errors.ts';
import type { ToolError, ToolErrorKind } from '../tools/outcome.ts';
import { credentialRefused } from './not-active.ts';

const CODES: Partial<Record<ToolErrorKind, ErrorCode>> = {
  upstream_timeout: 'TOOL_TIMEOUT',
  service_busy: 'SERVER_BUSY',
};

/**
 * The problem of an execution that its provider refused or failed.
 *
 * @param type of the account, to say what helps when its credential was refused
 */
export function toolFailure(error: ToolError, executionId: string, type?: AuthorizationType): ApiError {
  return new ApiError(CODES[error.kind] ?? 'TOOL_FAILED', error.message, {
    retryAfterMs: error.retryAfterMs,
    extra: {
      execution_id: executionId,
      tool_error: {
        kind: error.kind,
        retryable: error.retryable,
        retry_after_ms: error.retryAfterMs ?? null,
        upstream_status: error.upstreamStatus ?? null,
        upstream_body: error.upstreamBody ?? null,
        message: error.message,
      },
      ...(error.kind === 'upstream_auth' && type && type !== 'NO_AUTH' && { next_action: credentialRefused(type) }),
    },
  });
}
