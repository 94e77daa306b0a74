import type { ResponseHeaders } from '../../net/exchange.ts';

export type MessageLimit = 'bytes' | 'lines' | 'messages' | 'nodes' | 'levels';

const COUNTED: Record<MessageLimit, string> = {
  bytes: 'bytes',
  lines: 'lines',
  messages: 'messages',
  nodes: 'values',
  levels: 'levels of nesting',
};

/** A response exceeded a limit: its size, its lines, its messages, or the values or nesting of a message. */
export class MessageLimitError extends Error {
  readonly limit: MessageLimit;

  constructor(limit: MessageLimit) {
    super(`The MCP server sent too many ${COUNTED[limit]}.`);
    this.name = 'MessageLimitError';
    this.limit = limit;
  }
}

/** A response that violates the protocol. The message contains no text of the server. */
export class MessageFormatError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'MessageFormatError';
  }
}

/**
 * The server accepted a request, but rejected the HTTP request that resumes the stream of its response. The request
 * must not be sent again, regardless of the status, because the server may have carried it out.
 */
export class ContinuationError extends Error {
  readonly status: number;

  constructor(status: number) {
    super(`The MCP server returned HTTP ${status}.`);
    this.name = 'ContinuationError';
    this.status = status;
  }
}

/** An HTTP response whose status (3xx to 5xx) rejects a request. */
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
