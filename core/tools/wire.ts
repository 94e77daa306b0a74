import type { ToolErrorKind } from './outcome.ts';
import type { ResponseHeaders } from './response-headers.ts';

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
  headers: ResponseHeaders;
  body: Buffer;
}

/** Removes secrets from values, as `Scrubber` of core/net does. */
export interface Scrub {
  <T>(value: T): T;
  /** Removes the secrets from a value that was parsed from this JSON text. */
  parsed<T>(value: T, json: Buffer): T;
  /** Removes the secrets from bytes of any kind. */
  bytes(bytes: Buffer): Buffer;
}

/** The error with which sending a request fails; `sent`: whether the first byte of the request may have been sent. */
export interface SendFailure {
  kind: 'blocked' | 'unreachable' | 'timeout' | 'too_large' | 'invalid_response' | 'tls' | 'aborted' | 'busy';
  sent: boolean;
  /** How long to wait before another call may succeed, if known. */
  retryAfterMs?: number | undefined;
  message: string;
}

/** The API's names for failures of sending. */
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
