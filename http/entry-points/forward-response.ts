import type { ServerResponse } from 'node:http';
import { finished, type Readable } from 'node:stream';
import { createStreamScrubber, type Scrubber } from '../../core/net/redact.ts';

/** How forwarding a body ended. `whole`: all was sent. `cut`: the source failed. `left`: the caller disconnected. */
export type ForwardedResponse = 'whole' | 'cut' | 'left';

export interface ForwardOptions {
  /** The texts to remove, and the function that removes them. */
  secrets: readonly string[];
  scrubber: Scrubber;
  /** Writes the head of the response. @param length the size of the body in bytes, if the whole body has arrived */
  begin(length?: number): void;
  /** Runs when the whole body has arrived; the response ends only after it has resolved. */
  beforeEnd(): Promise<void>;
}

/** An event-loop turn rarely brings more bytes than this. If it does, they are written before the turn ends. */
const MOST_HELD = 16 * 1024;

/**
 * Forwards a body to the caller as it arrives, with secrets removed. A body that arrives within a turn of the event
 * loop is written together with the head. If the body fails after the head was sent, the connection is closed, because
 * nothing else shows the caller that the rest is missing. If it fails before, the caller of this function must write an
 * error.
 *
 * @throws what `beforeEnd` rejects with; then the connection is closed
 */
export function forwardResponse(
  body: Readable,
  res: ServerResponse,
  options: ForwardOptions,
): Promise<ForwardedResponse> {
  const { secrets, scrubber, begin, beforeEnd } = options;
  return new Promise((resolve, reject) => {
    /** The bytes that have arrived and were not searched for secrets yet. */
    let held: Buffer[] = [];
    let heldBytes = 0;
    let pieces: ReturnType<typeof createStreamScrubber> | undefined;
    let isDue = false;
    let hasArrived = false;
    let isSettled = false;

    const take = () => {
      const bytes = held.length === 1 ? (held[0] as Buffer) : Buffer.concat(held);
      held = [];
      heldBytes = 0;
      return bytes;
    };
    const write = () => {
      isDue = false;
      if (isSettled || hasArrived || heldBytes === 0) return;
      pieces ??= createStreamScrubber(secrets);
      const ready = pieces.add(take());
      if (ready.length === 0) return;
      if (!res.headersSent) begin();
      if (res.write(ready)) return;
      body.pause();
      res.once('drain', () => body.resume());
    };
    const settle = (how: ForwardedResponse) => {
      if (isSettled) return;
      if (how === 'cut') write();
      isSettled = true;
      resolve(how);
      if (how === 'whole') return;
      body.destroy();
      // Closes the connection in the next event-loop turn, because closing it in this turn would lose the bytes that
      // were written in this turn.
      if (res.headersSent) setImmediate(() => res.destroy());
    };
    const end = async () => {
      hasArrived = true;
      await beforeEnd();
      if (isSettled) return;
      const rest = pieces ? Buffer.concat([pieces.add(take()), pieces.end()]) : scrubber.bytes(take());
      if (!res.headersSent) begin(rest.length);
      res.end(rest);
    };

    body.on('data', (chunk: Buffer) => {
      held.push(chunk);
      heldBytes += chunk.length;
      if (heldBytes >= MOST_HELD) write();
      else if (!isDue) {
        isDue = true;
        setImmediate(write);
      }
    });
    finished(res, (error) => settle(error ? 'left' : 'whole'));
    finished(body, (error) => {
      if (error) return settle('cut');
      end().catch((cause: unknown) => {
        isSettled = true;
        res.destroy();
        reject(cause);
      });
    });
  });
}
