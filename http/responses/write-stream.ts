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
 * Writes a response in chunks. The next chunk is created when the client has read enough of the earlier chunks. The
 * connection is closed after the response, so that nothing stays in memory for a client that does not read. Each chunk
 * waits for the next turn of the event loop, so that other requests are served between two chunks; waiting for `drain`
 * is not enough, because a client that reads fast causes it in the same turn.
 *
 * @param body a body on which `begin` was called
 * @param left is aborted when the client has disconnected
 * @throws the error of creating a chunk; the client then receives an incomplete response
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
