import { readBearerChallenge } from '../../oauth/challenge.ts';
import { isRetryable, kindOfStatus, type ToolError, type ToolErrorKind } from '../../tools/outcome.ts';
import { readRateLimit } from '../../tools/rate-limit.ts';
import { isSendFailure, KIND_OF_FAILURE } from '../../tools/wire.ts';
import { RpcError, UpstreamCancelled, UpstreamTimeout } from './upstream-errors.ts';
import { ContinuationError, MessageFormatError, MessageLimitError, StatusError } from './wire-errors.ts';

const MAX_WORDS = 500;

/**
 * Converts the error of a request to an MCP server to a tool error, in the same form as for other providers. The
 * message may contain text of the server, but never text of the MCP SDK. The caller removes secrets from the result.
 *
 * @param repeatable whether the call may be repeated without a second effect
 * @param now milliseconds UTC
 */
export function upstreamFailure(error: unknown, repeatable: boolean, now: number): { error: ToolError; sent: boolean } {
  if (isSendFailure(error)) {
    const kind = KIND_OF_FAILURE[error.kind];
    const retryable = error.kind !== 'tls' && isRetryable(kind, repeatable || !error.sent);
    const { retryAfterMs } = error;
    const message = error.kind === 'too_large' ? new MessageLimitError('bytes').message : error.message;
    return {
      error: { kind, retryable, message, ...(retryAfterMs !== undefined && { retryAfterMs }) },
      sent: error.sent,
    };
  }
  if (error instanceof StatusError) return { error: ofStatus(error, repeatable, now), sent: true };
  const kind = kindOf(error);
  if (error instanceof ContinuationError) {
    const { message, status: upstreamStatus } = error;
    return { error: { kind, retryable: isRetryable(kind, repeatable), message, upstreamStatus }, sent: true };
  }
  return { error: { kind, retryable: isRetryable(kind, repeatable), message: messageOf(error) }, sent: true };
}

function ofStatus({ status, headers, words, message }: StatusError, repeatable: boolean, now: number): ToolError {
  const kind = kindOfStatus(status) ?? 'upstream_invalid_response';
  const { retryAfterMs } = readRateLimit(headers, undefined, now);
  const challenge = readBearerChallenge(headers['www-authenticate']);
  const requiredScopes = challenge?.error === 'insufficient_scope' ? challenge.scopes : undefined;
  const wanted = requiredScopes ? ` It requires the scopes ${requiredScopes.join(', ')}.` : '';
  return {
    kind,
    retryable: isRetryable(kind, repeatable),
    upstreamStatus: status,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(requiredScopes && { requiredScopes }),
    message: (words === '' ? message : `${message.slice(0, -1)}: ${words}`) + wanted,
  };
}

/**
 * Returns the kind of a failure that no HTTP status determines. The JSON-RPC codes distinguish errors of the client,
 * unknown methods and errors of the server (JSON-RPC 2.0 §5.1). Two codes are defined by MCP: -32002 (resource not
 * found) and -32042 (the user must open a URL).
 */
function kindOf(error: unknown): ToolErrorKind {
  if (error instanceof UpstreamTimeout) return 'upstream_timeout';
  if (error instanceof UpstreamCancelled) return 'upstream_unreachable';
  if (!(error instanceof RpcError)) return isPackageTimeout(error) ? 'upstream_timeout' : 'upstream_invalid_response';
  if (error.code === -32602 || error.code === -32600) return 'upstream_bad_request';
  if (error.code === -32601 || error.code === -32002) return 'upstream_not_found';
  if (error.code === -32042) return 'upstream_forbidden';
  return 'upstream_server_error';
}

function messageOf(error: unknown): string {
  if (error instanceof RpcError) {
    const words = error.message.slice(0, MAX_WORDS).toWellFormed().trim();
    return words === ''
      ? `The MCP server returned the error ${error.code}.`
      : `The MCP server returned an error: ${words}`;
  }
  const isOurs =
    error instanceof UpstreamTimeout ||
    error instanceof UpstreamCancelled ||
    error instanceof MessageLimitError ||
    error instanceof MessageFormatError;
  if (isOurs) return error.message;
  if (isPackageTimeout(error)) return 'The MCP server did not respond in time.';
  if (codeOf(error) === 'CAPABILITY_NOT_SUPPORTED')
    return 'The MCP server requests input from the user, which is not supported.';
  if (codeOf(error) === 'ERA_NEGOTIATION_FAILED')
    return 'The MCP server does not support any revision of MCP that Valetkey supports.';
  return 'The MCP server does not follow the protocol.';
}

function isPackageTimeout(error: unknown): boolean {
  return codeOf(error) === 'REQUEST_TIMEOUT';
}

function codeOf(error: unknown): unknown {
  return (error as { code?: unknown } | null)?.code;
}
