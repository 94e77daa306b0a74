import { isRetryable, kindOfStatus, type ToolError, type ToolErrorKind } from '../../tools/outcome.ts';
import { isSendFailure, KIND_OF_FAILURE } from '../../tools/wire.ts';
import type { UpstreamFetch } from './upstream-fetch.ts';

const MAX_MESSAGE = 500;

/**
 * Why a call of an MCP server gave nothing, in the words of every provider: what the wire says first, then what the protocol does.
 *
 * @param repeatable whether the same call may be made again without a second effect
 */
export function upstreamFailure(
  error: unknown,
  wire: UpstreamFetch,
  repeatable: boolean,
): { error: ToolError; sent: boolean } {
  const { status, failure } = wire.last();
  if (isSendFailure(failure)) {
    const kind = KIND_OF_FAILURE[failure.kind];
    const retryable = failure.kind !== 'tls' && isRetryable(kind, repeatable || !failure.sent);
    return { error: { kind, retryable, message: failure.message }, sent: failure.sent || status !== undefined };
  }
  const byStatus = status === undefined ? undefined : kindOfStatus(status);
  const kind = byStatus ?? kindOfProtocol(error);
  const words = error instanceof Error ? error.message.slice(0, MAX_MESSAGE) : '';
  const message = byStatus ? `The MCP server answered ${status}.` : `The MCP server answered an error: ${words}`;
  const upstreamStatus = byStatus ? { upstreamStatus: status as number } : {};
  return { error: { kind, retryable: isRetryable(kind, repeatable), message, ...upstreamStatus }, sent: true };
}

/** JSON-RPC 2.0 §5.1: what the client did wrong, what is not there, and what went wrong over there. */
function kindOfProtocol(error: unknown): ToolErrorKind {
  const code = (error as { code?: unknown } | null)?.code;
  if (code === -32602 || code === -32600) return 'upstream_bad_request';
  if (code === -32601 || code === -32002) return 'upstream_not_found';
  if (code === -32042) return 'upstream_forbidden';
  if (code === 'REQUEST_TIMEOUT') return 'upstream_timeout';
  return typeof code === 'number' ? 'upstream_server_error' : 'upstream_invalid_response';
}
