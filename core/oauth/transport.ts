/** The part of fetch that protocol calls use; the egress room gives one that is pinned to origins. Redirects are not followed. */
export type ProtocolFetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** What a transport rejects with when a call gave no answer. The message is public. */
export interface TransportFailure {
  kind: 'blocked' | 'unreachable' | 'timeout' | 'too_large' | 'invalid_response' | 'tls' | 'aborted';
  /** The first byte of the request may have left. */
  sent: boolean;
  message: string;
}

const KINDS: ReadonlySet<unknown> = new Set<TransportFailure['kind']>([
  'blocked',
  'unreachable',
  'timeout',
  'too_large',
  'invalid_response',
  'tls',
  'aborted',
]);

export function isTransportFailure(error: unknown): error is TransportFailure {
  if (!(error instanceof Error) || !('kind' in error) || !('sent' in error)) return false;
  return KINDS.has(error.kind) && typeof error.sent === 'boolean';
}
