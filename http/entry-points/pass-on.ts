import type { ServerResponse } from 'node:http';
import { type Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createStreamScrubber } from '../../core/net/redact.ts';

/** How forwarding a body ended. `cut`: its source failed. `left`: the caller closed the connection first. */
export type PassedOn = 'whole' | 'cut' | 'left';

/**
 * Forwards a body to the caller as it arrives, with secrets removed. The response headers have already been sent, so
 * after a failure only a closed connection shows the caller that the rest is missing.
 *
 * @param beforeEnd runs when the whole body has arrived; the response ends only after it has resolved
 * @throws what `beforeEnd` rejects with; then the connection is closed
 */
export async function passOn(
  body: Readable,
  res: ServerResponse,
  secrets: readonly string[],
  beforeEnd: () => Promise<void>,
): Promise<PassedOn> {
  const seen: { failure?: Exclude<PassedOn, 'whole'>; refusal?: { cause: unknown } } = {};
  // The first of the two events shows which side failed, because the pipeline then destroys the other side.
  body.once('error', () => {
    seen.failure ??= 'cut';
  });
  res.once('close', () => {
    if (!res.writableEnded) seen.failure ??= 'left';
  });
  const settled = () =>
    beforeEnd().catch((cause: unknown) => {
      seen.refusal = { cause };
      throw cause;
    });
  try {
    await pipeline(body, scrubbing(secrets, settled), res);
    return 'whole';
  } catch {
    res.destroy();
    if (seen.refusal) throw seen.refusal.cause;
    return seen.failure ?? 'cut';
  }
}

function scrubbing(secrets: readonly string[], beforeEnd: () => Promise<void>): Transform {
  const scrubber = createStreamScrubber(secrets);
  return new Transform({
    transform: (chunk: Buffer, _encoding, done) => done(null, scrubber.add(chunk)),
    flush: (done) => {
      beforeEnd().then(() => done(null, scrubber.end()), done);
    },
  });
}
