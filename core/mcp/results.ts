import type { CallToolResult } from '@modelcontextprotocol/server';
import type { ApiError } from '../errors.ts';
import type { ToolOutcome } from '../tools/outcome.ts';

const OTHER_SHAPE = 'The result does not match the output schema of the tool; it is in the text content.';

/**
 * Returns the result of a successful call: the same members as in the REST API, as structured content and as text.
 *
 * @param fits whether the data matches the output schema of the tool; if not, the data is only in the text
 */
export function successResult(executionId: string, outcome: ToolOutcome & { ok: true }, fits: boolean): CallToolResult {
  const { data, nextCursor, truncated, pages } = outcome;
  const rest = {
    execution_id: executionId,
    ...(nextCursor !== undefined && { next_cursor: nextCursor }),
    ...(pages && { pages }),
    ...(truncated && { truncated: true, truncation: { ...truncated } }),
  };
  return {
    content: [textOf({ data, ...rest })],
    structuredContent: fits ? { data, ...rest } : { ...rest, note: OTHER_SHAPE },
  };
}

/**
 * Returns the result of a call that failed or was not sent: the same members as in a problem document of the REST API.
 */
export function failureResult(error: ApiError, executionId?: string): CallToolResult {
  const structuredContent = describeFailure(error, executionId);
  return { content: [textOf(structuredContent)], structuredContent, isError: true };
}

/** Returns the members of a failure: `error`, and `execution_id` if the call was recorded. */
export function describeFailure(error: ApiError, executionId?: string): Record<string, unknown> {
  const { execution_id: recorded = executionId, tool_error: toolError, ...extra } = error.extra ?? {};
  const described = {
    code: error.code,
    message: error.message,
    retryable: false,
    ...(toolError as object | undefined),
    ...(error.errors && { errors: error.errors }),
    ...extra,
  };
  return { ...(recorded !== undefined && { execution_id: recorded }), error: described };
}

/** Returns the result of a tool that the MCP server implements itself, as structured content and as text. */
export function jsonResult(data: Record<string, unknown>): CallToolResult {
  return { content: [textOf(data)], structuredContent: data };
}

function textOf(value: unknown) {
  return { type: 'text' as const, text: JSON.stringify(value) };
}
