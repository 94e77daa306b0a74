import { isExhausted } from '../exhausted.ts';
import { EgressError, exhausted } from './egress-error.ts';

/** How far an exchange had progressed when it failed. */
export interface Progress {
  /** Whether the first byte of the request may have been sent. */
  sent: boolean;
  /** Whether the response had begun. */
  answering: boolean;
}

const TOO_LARGE = new Set(['UND_ERR_HEADERS_OVERFLOW', 'HPE_HEADER_OVERFLOW']);
const NOT_HTTP = /^HPE_|^UND_ERR_RES_CONTENT_LENGTH_MISMATCH$|^ERR_HTTP_CONTENT_LENGTH_MISMATCH$/;

/**
 * Converts an error of a connection or an HTTP client to an EgressError, by the error codes of Node, undici and got. An
 * EgressError keeps its kind and message; its `sent` becomes true if the request may have been sent.
 */
export function toEgressError(error: unknown, { sent, answering }: Progress): EgressError {
  if (error instanceof EgressError) return sent ? error.afterSending() : error;
  if (!sent && isExhausted(error)) return exhausted(error);
  const code = codeOf(error);
  const options = { sent, cause: bareCause(error) };
  if (TOO_LARGE.has(code)) return new EgressError('too_large', 'The header of the response is too large.', options);
  if (NOT_HTTP.test(code)) return new EgressError('invalid_response', 'The response is not valid HTTP.', options);
  if (code.startsWith('ERR_SSL_')) {
    return new EgressError('tls', 'The TLS connection failed, or the host rejected it.', options);
  }
  if (answering) {
    return new EgressError('invalid_response', 'The connection ended before the response was complete.', options);
  }
  return new EgressError('unreachable', 'The connection ended before a response arrived.', options);
}

export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

/**
 * Returns a new error with only the code and the message of the given error. HTTP parsers attach bytes of the response
 * to their errors, and HTTP clients attach the request with its credentials.
 */
export function bareCause(error: unknown): Error {
  return new Error(`${codeOf(error)} ${error instanceof Error ? error.message : ''}`.trim());
}
