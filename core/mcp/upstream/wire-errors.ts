import type { ResponseHeaders } from '../../net/exchange.ts';

export type MessageLimit = 'bytes' | 'lines' | 'messages' | 'nodes' | 'levels';

/** A response exceeded a limit of size or number of messages. */
export class MessageLimitError extends Error {
  readonly limit: MessageLimit;

  constructor(limit: MessageLimit) {
    super(`The MCP server sent too many ${limit}.`);
    this.name = 'MessageLimitError';
    this.limit = limit;
  }
}

/** A response that violates the protocol. The message is a fixed sentence. */
export class MessageFormatError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'MessageFormatError';
  }
}

/**
 * The server accepted a request, but the stream of its response could not be resumed. The request must not be sent
 * again with any status of the resumption, because the server may have carried it out.
 */
export class ContinuationError extends Error {
  readonly status: number;

  constructor(status: number) {
    super(`The MCP server returned HTTP ${status}.`);
    this.name = 'ContinuationError';
    this.status = status;
  }
}

/** An HTTP status that rejects a request. */
export class StatusError extends Error {
  readonly status: number;
  /** Response headers without secrets. */
  readonly headers: ResponseHeaders;
  /** The server's explanation without secrets; empty if there is none that can be read. */
  readonly words: string;

  constructor(status: number, headers: ResponseHeaders, words: string) {
    super(`The MCP server returned HTTP ${status}.`);
    this.name = 'StatusError';
    this.status = status;
    this.headers = headers;
    this.words = words;
  }
}
