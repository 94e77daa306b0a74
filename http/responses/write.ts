import { BinaryBody } from '../../core/bodies/binary-body.ts';
import type { Reply } from '../contract.ts';
import type { Exchange } from '../pipeline/exchange.ts';

/**
 * The default headers of responses. Most responses contain accounts or reveal whether accounts exist, so they must not
 * be cached.
 */
export const FIXED_HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

/** Returns the default headers, the request id, and the headers that were collected for this response. */
export function commonHeaders({ req, requestId, responseHeaders }: Exchange): Record<string, string | number> {
  const headers: Record<string, string | number> = { ...FIXED_HEADERS, 'x-request-id': requestId, ...responseHeaders };
  // The rest of an unread body would be interpreted as the next request on this connection.
  if (!req.complete) headers['connection'] = 'close';
  return headers;
}

/** Writes a response in one piece; does nothing if the client has disconnected. */
export function writeReply(exchange: Exchange, reply: Reply): void {
  const { res } = exchange;
  if (res.destroyed) return;
  const { content, length } = contentOf(reply);
  const headers = commonHeaders(exchange);
  // RFC 9110 §8.6: a 204 response has no Content-Length.
  if (reply.status !== 204 && !reply.omitsLength) headers['content-length'] = length;
  if (content !== '') headers['content-type'] = 'application/json';
  res.writeHead(reply.status, Object.assign(headers, reply.headers));
  res.end(content);
}

function contentOf({ body }: Reply): { content: string | Buffer; length: number } {
  if (body instanceof BinaryBody) return { content: body.bytes, length: body.bytes.length };
  if (body === undefined) return { content: '', length: 0 };
  const json = JSON.stringify(body);
  // Ends with a line break, so that the prompt of a terminal starts on a new line. The length is that of the text
  // without it plus one: measuring the joined text would copy it once more.
  return { content: `${json}\n`, length: Buffer.byteLength(json) + 1 };
}
