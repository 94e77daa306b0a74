import { MCP_UPSTREAM } from '../../budgets.ts';
import type { EgressStream } from '../../net/egress.ts';
import { isSendFailure } from '../../tools/wire.ts';
import { count, type ReadBudget, readEvents } from './event-reader.ts';
import { MessageFormatError } from './wire-errors.ts';

export interface ResponseSource {
  /** Continues a stream after an event, by a GET with Last-Event-ID. */
  resume(lastEventId: string): Promise<EgressStream>;
  /** Resolves after some milliseconds. */
  wait(ms: number): Promise<void>;
  signal: AbortSignal;
}

/**
 * The texts of the messages of one response: a JSON body, or a stream of events. If a stream ends before the response, it is
 * resumed if the server has assigned event ids (2025-11-25, Resumability): servers end streams on purpose and are polled later. A
 * reader that has its response stops reading, which ends the connection; reading on is an error.
 *
 * @param bytes that all streams together may have
 * @param hold has space for the first bytes; it grows with the bytes read
 * @throws MessageLimitError, MessageFormatError, StatusError, EgressError
 */
export async function* responseMessages(
  first: EgressStream,
  source: ResponseSource,
  bytes: number,
  hold: ReadBudget['hold'],
): AsyncGenerator<string, never> {
  const budget: ReadBudget = { bytes, lines: MCP_UPSTREAM.lines, hold, read: 0 };
  if (mediaTypeOf(first) === 'application/json') {
    yield await readText(first, budget);
    throw new MessageFormatError(WITHOUT_RESULT);
  }
  let lastEventId: string | undefined;
  let retryMs: number = MCP_UPSTREAM.retryMs;
  let stream: EgressStream | undefined = first;
  for (let continuations = 0; ; continuations++) {
    try {
      stream ??= await source.resume(lastEventId as string);
      requireEvents(stream);
      for await (const event of readEvents(stream.body, budget)) {
        lastEventId = event.id ?? lastEventId;
        retryMs = event.retryMs ?? retryMs;
        if (event.data !== '') yield event.data;
      }
    } catch (error) {
      // A connection that breaks is like a stream that ends; everything else would be the same again.
      if (lastEventId === undefined || source.signal.aborted || !isSendFailure(error) || error.kind !== 'unreachable')
        throw error;
    } finally {
      stream?.body.destroy();
    }
    if (lastEventId === undefined || continuations === MCP_UPSTREAM.continuations) {
      throw new MessageFormatError(WITHOUT_RESULT);
    }
    stream = undefined;
    await source.wait(Math.min(Math.max(retryMs, MCP_UPSTREAM.leastRetryMs), MCP_UPSTREAM.longestRetryMs));
  }
}

const WITHOUT_RESULT = 'The MCP server ended its response without a result.';

/** Reads a body whole. @throws MessageLimitError, EgressError */
export async function readText({ body }: EgressStream, budget: ReadBudget): Promise<string> {
  const pieces: Buffer[] = [];
  try {
    for await (const piece of body as AsyncIterable<Buffer>) {
      count(budget, piece.length);
      pieces.push(piece);
    }
  } finally {
    body.destroy();
  }
  return new TextDecoder().decode(Buffer.concat(pieces));
}

function requireEvents(stream: EgressStream): void {
  const type = mediaTypeOf(stream);
  if (type !== 'text/event-stream') throw new MessageFormatError('The MCP server returned neither JSON nor events.');
}

function mediaTypeOf({ headers }: EgressStream): string {
  return (
    String(headers['content-type'] ?? '')
      .split(';')[0]
      ?.trim()
      .toLowerCase() ?? ''
  );
}
