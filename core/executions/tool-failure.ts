import { needsCredentials } from '../authorization/roles.ts';
import { ApiError, type ErrorCode } from '../errors.ts';
import type { ToolError, ToolErrorKind } from '../tools/outcome.ts';
import type { AccountContext } from './account-context.ts';
import { credentialRefused, type NextAction, scopesMissing, type ToolCallContext } from './next-action.ts';

const CODES: Partial<Record<ToolErrorKind, ErrorCode>> = {
  upstream_timeout: 'TOOL_TIMEOUT',
  service_busy: 'SERVER_BUSY',
};

/**
 * Returns the error of an execution that its provider rejected or that failed.
 *
 * @param context the account's data, which determines what to do after a rejected credential
 */
export function toolFailure(error: ToolError, executionId: string, context: AccountContext): ApiError {
  return new ApiError(CODES[error.kind] ?? 'TOOL_FAILED', error.message, {
    ...retryTime(error),
    extra: { execution_id: executionId, ...errorMembers(error, context) },
  });
}

/** Returns the error for an MCP server that could not list its tools. */
export function toolsNotListed(error: ToolError, context: AccountContext): ApiError {
  const { kind, message, retryAfterMs } = error;
  if (kind === 'service_busy') return new ApiError('SERVER_BUSY', message, { retryAfterMs });
  return new ApiError('TOOLS_NOT_LISTED', message, { ...retryTime(error), extra: errorMembers(error, context) });
}

/**
 * Returns the time for the header Retry-After. HTTP clients may repeat a request by themselves because of this header,
 * so it is only sent for errors that are `retryable`.
 */
function retryTime({ retryable, retryAfterMs }: ToolError): { retryAfterMs: number | null | undefined } {
  return { retryAfterMs: retryable ? retryAfterMs : null };
}

function errorMembers(error: ToolError, { pattern, connection }: AccountContext) {
  const isAuthenticated = pattern !== undefined && needsCredentials(pattern.type);
  const next_action = isAuthenticated ? nextAction(error, { pattern, connection }) : undefined;
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

function nextAction(
  { kind, retryable, faultyPart, requiredScopes }: ToolError,
  context: ToolCallContext,
): NextAction | undefined {
  // A temporary failure needs no action.
  if (kind === 'upstream_auth') return retryable ? undefined : credentialRefused(context, faultyPart);
  return requiredScopes && scopesMissing(requiredScopes, context);
}
