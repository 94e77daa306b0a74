import { once } from 'node:events';
import type { StreamedBody } from '../core/streamed-body.ts';
import type { Reply } from './contract.ts';
import type { Exchange } from './exchange.ts';
import { commonHeaders } from './write.ts';

/**
 * Writes a response piece by piece. The next piece is made when the client has read enough of those before it. The connection ends with
 * the response, so that nothing is kept for a client that does not read.
 *
 * @throws what making a piece throws; the client sees a response that is cut off
 */
export async function writeStream(exchange: Exchange, { status, headers }: Reply, body: StreamedBody): Promise<void> {
  const { req, res } = exchange;
  if (res.destroyed) return;
  const left = new AbortController();
  res.once('close', () => left.abort());
  res.writeHead(status, { ...commonHeaders(exchange), ...headers, connection: 'close' });
  if (req.method === 'HEAD') {
    res.end();
    return;
  }
  res.flushHeaders();
  for await (const piece of body.open(left.signal)) {
    if (left.signal.aborted) return;
    if (!res.write(piece)) await once(res, 'drain', { signal: left.signal }).catch(() => {});
  }
  res.end();
}
