import { BinaryBody } from '../core/binary-body.ts';
import type { Reply } from './contract.ts';
import type { Exchange } from './exchange.ts';

/** Headers of every response. They carry accounts or say whether those exist, so nothing may keep them. */
export const FIXED_HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

/** The headers that every response has, and those that were collected for this one. */
export function commonHeaders({ req, requestId, responseHeaders }: Exchange): Record<string, string | number> {
  const headers: Record<string, string | number> = { ...FIXED_HEADERS, 'x-request-id': requestId, ...responseHeaders };
  // An unread body would be taken for the next request on this connection.
  if (!req.complete) headers['connection'] = 'close';
  return headers;
}

/** Writes a response in one piece. Returns without effect when the client has gone. */
export function writeReply(exchange: Exchange, reply: Reply): void {
  const { res } = exchange;
  if (res.destroyed) return;
  const content = contentOf(reply);
  const headers = commonHeaders(exchange);
  // RFC 9110 §8.6: no content has no length.
  if (reply.status !== 204) headers['content-length'] = Buffer.byteLength(content);
  if (content !== '') headers['content-type'] = 'application/json';
  res.writeHead(reply.status, Object.assign(headers, reply.headers));
  res.end(content);
}

function contentOf({ body }: Reply): string | Buffer {
  if (body instanceof BinaryBody) return body.bytes;
  return body === undefined ? '' : JSON.stringify(body);
}
