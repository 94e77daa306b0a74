import type { AuthorizationType } from '../connectors/auth-pattern.ts';
import { ApiError, type ErrorCode } from '../errors.ts';
import type { ToolError, ToolErrorKind } from '../tools/outcome.ts';
import { credentialRefused, scopesMissing } from './not-active.ts';

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
    extra: { execution_id: executionId, ...explained(error, type) },
  });
}

/** The problem of an MCP server that did not list its tools. */
export function toolsNotListed(error: ToolError, type: AuthorizationType): ApiError {
  const { kind, message, retryAfterMs } = error;
  if (kind === 'service_busy') return new ApiError('SERVER_BUSY', message, { retryAfterMs });
  return new ApiError('TOOLS_NOT_LISTED', message, { extra: explained(error, type) });
}

function explained(error: ToolError, type: AuthorizationType | undefined) {
  const next_action = type && type !== 'NO_AUTH' ? nextAction(error, type) : undefined;
  return {
    tool_error: {
      kind: error.kind,
      retryable: error.retryable,
      retry_after_ms: error.retryAfterMs ?? null,
      upstream_status: error.upstreamStatus ?? null,
      upstream_body: error.upstreamBody ?? null,
      ...(error.requiredScopes && { required_scopes: error.requiredScopes }),
      message: error.message,
    },
    ...(next_action && { next_action }),
  };
}

function nextAction({ kind, requiredScopes }: ToolError, type: AuthorizationType) {
  if (kind === 'upstream_auth') return credentialRefused(type);
  return requiredScopes && scopesMissing(requiredScopes, type);
}
