import { once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { StreamedBody } from '../../core/bodies/streamed-body.ts';
import type { Reply } from '../contract.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { commonHeaders } from './write.ts';

/** @returns a signal that is aborted when the client has disconnected */
export function leftSignal({ res }: Exchange): AbortSignal {
  const left = new AbortController();
  if (res.closed) left.abort();
  res.once('close', () => left.abort());
  return left.signal;
}

/**
 * Writes a response in chunks. The next chunk is created when the client has read enough of those before it. The
 * connection ends with the response, so that nothing is kept for a client that does not read. Other requests are served
 * between two chunks: for a client that reads fast, `drain` is emitted in the same turn of the event loop.
 *
 * @param body whose `begin` was called
 * @param left is aborted when the client has disconnected
 * @throws what creating a chunk throws; the client sees a response that is cut off
 */
export async function writeStream(
  exchange: Exchange,
  { status, headers }: Reply,
  body: StreamedBody,
  left: AbortSignal,
): Promise<void> {
  const { req, res } = exchange;
  if (left.aborted) return body.end();
  res.writeHead(status, { ...commonHeaders(exchange), ...headers, connection: 'close' });
  if (req.method === 'HEAD') {
    res.end();
    return body.end();
  }
  res.flushHeaders();
  for await (const chunk of body) {
    if (left.aborted) return;
    if (!res.write(chunk)) await once(res, 'drain', { signal: left }).catch(() => {});
    await nextTurn();
  }
  res.end();
}
