import type { AnswerHeaders } from './answer-headers.ts';
import type { ToolErrorKind } from './outcome.ts';

/** One request as it is sent. */
export interface OutboundRequest {
  method: string;
  url: string;
  headers: Record<string, string>;
  body: string | Buffer | undefined;
}

/** A response as core/net returns it: header names in lower case, the body decompressed. */
export interface UpstreamResponse {
  status: number;
  headers: AnswerHeaders;
  body: Buffer;
}

export interface Scrub {
  <T>(value: T): T;
  /** The same for a value that was read from a JSON text. */
  parsed<T>(value: T, json: Buffer): T;
  /** The same for bytes of any kind. */
  bytes(bytes: Buffer): Buffer;
}

/** The error that `send` rejects with; `sent`: the first byte may have left. */
export interface SendFailure {
  kind: 'blocked' | 'unreachable' | 'timeout' | 'too_large' | 'invalid_response' | 'tls' | 'aborted' | 'busy';
  sent: boolean;
  /** When another call may be of use, where that is known. */
  retryAfterMs?: number | undefined;
  message: string;
}

/** What the failures of sending are called in the interface. */
export const KIND_OF_FAILURE: Record<SendFailure['kind'], ToolErrorKind> = {
  blocked: 'blocked_by_egress_policy',
  unreachable: 'upstream_unreachable',
  timeout: 'upstream_timeout',
  too_large: 'upstream_invalid_response',
  invalid_response: 'upstream_invalid_response',
  tls: 'upstream_unreachable',
  aborted: 'upstream_unreachable',
  busy: 'service_busy',
};

export function isSendFailure(error: unknown): error is SendFailure {
  if (typeof error !== 'object' || error === null || !('kind' in error) || !('sent' in error)) return false;
  return (
    typeof error.kind === 'string' && Object.hasOwn(KIND_OF_FAILURE, error.kind) && typeof error.sent === 'boolean'
  );
}
