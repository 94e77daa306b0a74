import { MCP_UPSTREAM } from '../../budgets.ts';
import type { EgressStream } from '../../net/egress.ts';
import { isSendFailure } from '../../tools/wire.ts';
import { count, type ReadBudget, readEvents } from './event-reader.ts';
import { MessageFormatError } from './wire-errors.ts';

export interface ResponseSource {
  /** Resumes a stream after an event, by a GET with Last-Event-ID. */
  resume(lastEventId: string): Promise<EgressStream>;
  /** Resolves after this many milliseconds. */
  wait(ms: number): Promise<void>;
  signal: AbortSignal;
}

/**
 * Yields the texts of the messages that an MCP server sends for one request. The HTTP response is a JSON body or an
 * event stream. An event stream that ends before the JSON-RPC response is resumed, up to a maximum number of times, if
 * the server has assigned event ids (2025-11-25, Resumability): servers may end streams on purpose, so that clients
 * poll later. The caller stops reading after the JSON-RPC response, which closes the connection. If the last stream
 * ends before a JSON-RPC response arrives, the generator throws.
 *
 * @param bytes the maximum size of all streams together
 * @param hold the share of the memory budget for response bodies; it grows with the bytes read
 * @throws MessageLimitError, MessageFormatError, StatusError, EgressError
 */
export async function* responseMessages(
  first: EgressStream,
  source: ResponseSource,
  bytes: number,
  hold: ReadBudget['hold'],
): AsyncGenerator<string, never> {
  const budget: ReadBudget = { bytes, lines: MCP_UPSTREAM.lines, hold, read: 0 };
  let lastEventId: string | undefined;
  let retryMs: number = MCP_UPSTREAM.retryMs;
  let stream: EgressStream | undefined = first;
  for (let continuations = 0; ; continuations++) {
    try {
      stream ??= await source.resume(lastEventId as string);
      // Some servers respond with JSON even to the GET that resumes a stream.
      if (mediaTypeOf(stream) === 'application/json') {
        yield await readText(stream, budget);
        throw new MessageFormatError(WITHOUT_RESULT);
      }
      requireEvents(stream);
      for await (const event of readEvents(stream.body, budget)) {
        lastEventId = event.id ?? lastEventId;
        retryMs = event.retryMs ?? retryMs;
        if (event.data !== '') yield event.data;
      }
    } catch (error) {
      // A connection that fails after an event id is treated like a stream that ends. Other errors would occur again.
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

/** Reads a complete body. @throws MessageLimitError, EgressError */
export async function readText({ body }: EgressStream, budget: ReadBudget): Promise<string> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      count(budget, chunk.length);
      chunks.push(chunk);
    }
  } finally {
    body.destroy();
  }
  return new TextDecoder().decode(Buffer.concat(chunks));
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
