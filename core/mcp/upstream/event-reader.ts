import type { ByteHold } from '../../budgets/byte-budget.ts';
import { noRoom } from '../../net/refused-body.ts';
import { MessageLimitError } from './wire-errors.ts';

/** An event of a stream (HTML Living Standard §9.2), or what it said without one. */
export interface ServerEvent {
  /** The text of its `data` fields; empty for an event that only carries an id. */
  data: string;
  /** Where to continue after this event. */
  id?: string;
  /** Milliseconds to wait before the stream is opened again. */
  retryMs?: number;
}

/** What may still be read of one response, over all streams that it comes in. */
export interface ReadBudget {
  bytes: number;
  lines: number;
  /** Has space for the bytes that were read, in the memory budget of all bodies. */
  hold: Pick<ByteHold, 'bytes' | 'grow'>;
  /** Bytes that were read so far. */
  read: number;
}

/** Counts a piece. @throws MessageLimitError; EgressError if there is no space */
export function count(budget: ReadBudget, bytes: number): void {
  budget.read += bytes;
  if (budget.read > budget.bytes) throw new MessageLimitError('bytes');
  const { hold } = budget;
  if (budget.read > hold.bytes && !hold.grow(budget.read - hold.bytes)) throw noRoom(true);
}

/**
 * Reads server-sent events, in time linear in the bytes even if they arrive in small pieces.
 *
 * @param budget is used up; comments and empty lines count as well
 * @throws MessageLimitError, and the errors of the body
 */
export async function* readEvents(body: AsyncIterable<Buffer>, budget: ReadBudget): AsyncGenerator<ServerEvent> {
  const decoder = new TextDecoder();
  const parser = new EventParser(budget);
  for await (const piece of body) {
    count(budget, piece.length);
    yield* parser.push(decoder.decode(piece, { stream: true }));
  }
}

class EventParser {
  readonly #budget: ReadBudget;
  readonly #lineEnd = /\r\n|\n|\r/g;
  /** The pieces of a line whose end has not come. */
  #line: string[] = [];
  #endedWithReturn = false;
  #data: string[] = [];
  #event: Omit<ServerEvent, 'data'> = {};

  constructor(budget: ReadBudget) {
    this.#budget = budget;
  }

  *push(text: string): Generator<ServerEvent> {
    // A line feed that follows a return belongs to it, also in the next piece.
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
    else if (field === 'id' && value !== '' && !value.includes('\0')) this.#event.id = value;
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
