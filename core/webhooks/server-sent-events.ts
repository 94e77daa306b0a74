import type { EventRow } from '../../db/store.ts';

/** How long a client waits before it connects again, in milliseconds. */
const RETRY_MS = 2_000;

/**
 * Writes events as server-sent events (HTML Living Standard, "Server-sent events"). If no event of a batch is written,
 * the batch becomes a comment line, which clients ignore.
 *
 * @param type if given, only events of this type are written
 */
export async function* serverSentEvents(
  batches: AsyncIterable<readonly EventRow[]>,
  type: string | undefined,
): AsyncGenerator<string> {
  yield `retry: ${RETRY_MS}\n\n`;
  for await (const rows of batches) {
    const wanted = rows.filter((row) => type === undefined || row.type === type);
    yield wanted.length === 0 ? ': waiting\n\n' : wanted.map(toText).join('');
  }
}

/** Formats an event. Its body is JSON in one line. */
function toText({ id, type, body }: EventRow): string {
  return `id: ${id}\nevent: ${type}\ndata: ${body}\n\n`;
}
