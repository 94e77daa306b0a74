import type { AuthorizationType } from '../connectors/auth-pattern.ts';
import { ApiError } from '../errors.ts';
import type { ToolError } from '../tools/outcome.ts';
import { credentialRefused } from './not-active.ts';

/**
 * The problem of an execution that its provider refused or failed.
 *
 * @param type of the account, to say what helps when its credential was refused
 */
export function toolFailure(error: ToolError, executionId: string, type?: AuthorizationType): ApiError {
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
      ...(error.kind === 'upstream_auth' && type && type !== 'NO_AUTH' && { next_action: credentialRefused(type) }),
    },
  });
}
