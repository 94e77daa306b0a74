import type { ByteHold } from '../../budgets/byte-budget.ts';
import { MCP_UPSTREAM } from '../../budgets.ts';
import { bodyMemoryExhausted } from '../../net/refused-body.ts';
import { MessageLimitError } from './wire-errors.ts';

/** A server-sent event (HTML Living Standard §9.2). */
export interface ServerEvent {
  /** The text of its `data` fields; empty for an event that only sets an id. */
  data: string;
  /** The id to send as Last-Event-ID to resume the stream after this event. */
  id?: string;
  /** Milliseconds to wait before resuming the stream. */
  retryMs?: number;
}

/** The limits for reading one response, over all streams that deliver it, and the amounts used. */
export interface ReadBudget {
  /** The maximum number of bytes. */
  bytes: number;
  /** How many more lines may be read. */
  lines: number;
  /** The share of the memory budget for response bodies. It grows with the bytes read. */
  hold: Pick<ByteHold, 'bytes' | 'grow'>;
  /** Bytes read so far. */
  read: number;
}

/** Counts bytes that were read. @throws MessageLimitError; EgressError if the memory budget has no space */
export function count(budget: ReadBudget, bytes: number): void {
  budget.read += bytes;
  if (budget.read > budget.bytes) throw new MessageLimitError('bytes');
  const { hold } = budget;
  if (budget.read > hold.bytes && !hold.grow(budget.read - hold.bytes)) throw bodyMemoryExhausted(true);
}

/**
 * Reads server-sent events. Events without data, id and retry time are skipped, and so is an unfinished event at the
 * end. The time is linear in the bytes, even if they arrive in small chunks.
 *
 * @param budget all bytes and lines count, including comments and empty lines
 * @throws MessageLimitError, and the errors of the body
 */
export async function* readEvents(body: AsyncIterable<Buffer>, budget: ReadBudget): AsyncGenerator<ServerEvent> {
  const decoder = new TextDecoder();
  const parser = new EventParser(budget);
  for await (const chunk of body) {
    count(budget, chunk.length);
    yield* parser.push(decoder.decode(chunk, { stream: true }));
  }
}

class EventParser {
  readonly #budget: ReadBudget;
  readonly #lineEnd = /\r\n|\n|\r/g;
  /** The parts of a line whose end has not arrived yet. */
  #line: string[] = [];
  #endedWithReturn = false;
  #data: string[] = [];
  #event: Omit<ServerEvent, 'data'> = {};

  constructor(budget: ReadBudget) {
    this.#budget = budget;
  }

  *push(text: string): Generator<ServerEvent> {
    // A carriage return and a line feed end one line, even if the line feed arrives in the next chunk.
    let from = this.#endedWithReturn && text.startsWith('\n') ? 1 : 0;
    if (text !== '') this.#endedWithReturn = text.endsWith('\r');
    this.#lineEnd.lastIndex = from;
    for (let end = this.#lineEnd.exec(text); end !== null; end = this.#lineEnd.exec(text)) {
      const last = text.slice(from, end.index);
      const line = this.#line.length === 0 ? last : [...this.#line, last].join('');
      this.#line = [];
      from = this.#lineEnd.lastIndex;
      const event = this.#read(line);
      if (event) yield event;
    }
    if (from < text.length) this.#line.push(text.slice(from));
  }

  #read(line: string): ServerEvent | undefined {
    if (this.#budget.lines-- <= 0) throw new MessageLimitError('lines');
    if (line === '') return this.#dispatch();
    const colon = line.indexOf(':');
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (field === 'data') this.#data.push(value);
    else if (field === 'id' && isHeaderValue(value)) this.#event.id = value;
    else if (field === 'retry' && /^\d{1,9}$/.test(value)) this.#event.retryMs = Number(value);
    return undefined;
  }

  #dispatch(): ServerEvent | undefined {
    const event = { ...this.#event, data: this.#data.join('\n') };
    const isEmpty = event.data === '' && event.id === undefined && event.retryMs === undefined;
    this.#data = [];
    this.#event = {};
    return isEmpty ? undefined : event;
  }
}

/** Whether an id can be sent as Last-Event-ID (RFC 9110 §5.5). A stream cannot be resumed after any other id. */
function isHeaderValue(id: string): boolean {
  return id.length <= MCP_UPSTREAM.eventIdChars && /^[\t\x20-\x7e\x80-\xff]+$/.test(id);
}
