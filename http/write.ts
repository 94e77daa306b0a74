import { BinaryBody } from '../core/binary-body.ts';
import type { Reply } from './contract.ts';
import type { Exchange } from './exchange.ts';

/** Headers of every response of the contract and of MCP servers. They carry accounts or say whether those exist, so nothing may keep them. */
export const FIXED_HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

const CONTENT_TYPE = { 'content-type': 'application/json' };

/** Writes an answer in one piece. Returns without effect when the client has gone. */
export function writeReply(exchange: Exchange, reply: Reply): void {
  const { res, req, requestId, answerHeaders } = exchange;
  if (res.destroyed) return;
  const content = contentOf(reply);
  const headers: Record<string, string | number> = {
    ...FIXED_HEADERS,
    'x-request-id': requestId,
    'content-length': Buffer.byteLength(content),
    ...answerHeaders,
    ...(content !== '' && CONTENT_TYPE),
    ...reply.headers,
  };
  // RFC 9110 §8.6: no content has no length.
  if (reply.status === 204) delete headers['content-length'];
  // An unread body would be taken for the next request on this connection.
  if (!req.complete) headers['connection'] = 'close';
  res.writeHead(reply.status, headers);
  res.end(content);
}

function contentOf({ body }: Reply): string | Buffer {
  if (body instanceof BinaryBody) return body.bytes;
  return body === undefined ? '' : JSON.stringify(body);
}
