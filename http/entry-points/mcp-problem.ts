import type { ApiError } from '../../core/errors.ts';
import type { Reply } from '../contract.ts';
import { respondUntyped } from '../responses/reply.ts';

/** JSON-RPC 2.0 §5.1 error codes for errors before the id of a message is known. */
const JSON_RPC_CODES: Partial<Record<number, number>> = { 400: -32600, 500: -32603 };
const SERVER_ERROR = -32000;
const PARSE_ERROR = -32700;

/**
 * Returns a response for an error before the MCP SDK handles the request, in the format of MCP clients: a
 * JSON-RPC error without an id.
 */
export function mcpProblem(error: ApiError, requestId: string, headers: Record<string, string> = {}): Reply {
  const isText = error.code === 'MALFORMED_BODY';
  const code = isText ? PARSE_ERROR : (JSON_RPC_CODES[error.status] ?? SERVER_ERROR);
  const data = { code: error.code, request_id: requestId };
  return respondUntyped(
    error.status,
    { jsonrpc: '2.0', id: null, error: { code, message: error.message, data } },
    headers,
  );
}
