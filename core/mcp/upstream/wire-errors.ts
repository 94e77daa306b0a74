import type { ResponseHeaders } from '../../net/exchange.ts';

export type MessageLimit = 'bytes' | 'lines' | 'messages' | 'nodes' | 'levels';

/** A response was larger, or had more messages, than is read. */
export class MessageLimitError extends Error {
  readonly limit: MessageLimit;

  constructor(limit: MessageLimit) {
    super(`The MCP server sent too many ${limit}.`);
    this.name = 'MessageLimitError';
    this.limit = limit;
  }
}

/** A response that is none of the protocol. The message is a sentence of ours. */
export class MessageFormatError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'MessageFormatError';
  }
}

/** An HTTP status that refuses a request. */
export class StatusError extends Error {
  readonly status: number;
  /** Free of secrets. */
  readonly headers: ResponseHeaders;
  /** What the server says about it, free of secrets; empty when it says nothing that can be read. */
  readonly words: string;

  constructor(status: number, headers: ResponseHeaders, words: string) {
    super(`The MCP server returned HTTP ${status}.`);
    this.name = 'StatusError';
    this.status = status;
    this.headers = headers;
    this.words = words;
  }
}
