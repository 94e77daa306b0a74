import { ApiError } from '../errors.ts';
import type { ToolError } from '../tools/outcome.ts';

/** The problem of an execution that its provider refused or failed. */
export function toolFailure(error: ToolError, executionId: string): ApiError {
  const code = error.kind === 'upstream_timeout' ? 'TOOL_TIMEOUT' : 'TOOL_FAILED';
  return new ApiError(code, error.message, {
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
    },
  });
}
