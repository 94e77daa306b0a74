/**
 * Why a call got no usable response. `blocked`: the egress policy or a check of the request rejected it. `unreachable`:
 * there was no connection, or it ended before a response began; also if too many calls are waiting, or calls to the
 * origin are paused. `too_large`: the header, body or decompressed body exceeds its limit. `invalid_response`: the
 * response is not valid HTTP, is incomplete, cannot be decoded, has too many parts, or redirects too often. `tls`: no
 * trusted TLS connection. `aborted`: the caller cancelled the call, or read the response too slowly. `busy`: Valetkey
 * has no capacity for the call.
 */
export type EgressErrorKind =
  | 'blocked'
  | 'unreachable'
  | 'timeout'
  | 'too_large'
  | 'invalid_response'
  | 'tls'
  | 'aborted'
  | 'busy';

/** Returns the error for a call to an origin that is not among its allowed ones. */
export function originNotAllowed(origin: string, allowed: readonly string[]): EgressError {
  const named = allowed.length === 0 ? 'none' : allowed.slice(0, 5).join(', ');
  const more = allowed.length > 5 ? ', …' : '';
  return new EgressError('blocked', `The origin ${origin} is not allowed for this call (allowed: ${named}${more}).`);
}

export interface EgressErrorOptions {
  sent?: boolean;
  retryAfterMs?: number;
  cause?: unknown;
}

/**
 * Returns the error for a connection that could not be opened because this process has no file descriptors or memory
 * left. Its kind is `busy`, because the other side is not at fault.
 */
export function exhausted(cause: unknown): EgressError {
  const message = 'The server has too many open files or too little memory for another connection. Try again later.';
  return new EgressError('busy', message, { retryAfterMs: 1_000, cause });
}

/**
 * A call that got no usable response. The message is public: it may contain host names, header names and limits, never
 * a path, a header value or a body.
 */
export class EgressError extends Error {
  readonly kind: EgressErrorKind;
  /**
   * Whether the first byte of the request may have been sent. Only a call with `sent: false` can always be repeated
   * safely.
   */
  readonly sent: boolean;
  /** How long to wait before another call may succeed, if known. */
  readonly retryAfterMs: number | undefined;

  constructor(kind: EgressErrorKind, message: string, options: EgressErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'EgressError';
    this.kind = kind;
    this.sent = options.sent ?? false;
    this.retryAfterMs = options.retryAfterMs;
  }

  /**
   * Returns the same failure with `sent` set to true and without `retryAfterMs`. If `sent` is already true, returns
   * this error unchanged.
   */
  afterSending(): EgressError {
    return this.sent ? this : new EgressError(this.kind, this.message, { sent: true, cause: this.cause });
  }
}
