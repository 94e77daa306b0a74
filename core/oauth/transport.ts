import { allowInsecureRequests } from 'oauth4webapi';

/**
 * An option for every call of the OAuth library. It allows http, because the endpoints were checked before: they use
 * https, or http on this machine only. The egress policy of the environment decides whether addresses on this machine
 * are allowed.
 */
export const CHECKED_ENDPOINTS = { [allowInsecureRequests]: true } as const;

/**
 * The subset of fetch that protocol calls use. The implementation in core/net only reaches the given origins. Only
 * requests for documents (`isDocument`) are retried after a failure and follow redirects within their origin.
 */
export type ProtocolFetch = (url: string | URL, init?: RequestInit & { isDocument?: boolean }) => Promise<Response>;

/**
 * Options for requesting a public document. Such a request contains no credential and changes nothing, so it may be
 * repeated.
 */
export const DOCUMENT = { headers: { accept: 'application/json' }, redirect: 'manual', isDocument: true } as const;

/**
 * Returns a fetch that can reach only these origins. A flow discovers some of its destinations while it runs, so it
 * requests a fetch for each.
 */
export type FetchFor = (origins: readonly string[]) => ProtocolFetch | Promise<ProtocolFetch>;

/** Returns a fetch that restricts each request to the origin of its address. */
export function restrictedToTarget(fetchFor: FetchFor): ProtocolFetch {
  return async (url, init) => (await fetchFor([new URL(url).origin]))(url, init);
}

/** The error that a transport throws if a call gets no usable response. The message is public. */
export interface TransportFailure {
  kind: 'blocked' | 'unreachable' | 'timeout' | 'too_large' | 'invalid_response' | 'tls' | 'aborted' | 'busy';
  /** Whether the first byte of the request may have been sent. */
  sent: boolean;
  /** How long to wait before another call may succeed, if known. */
  retryAfterMs?: number | undefined;
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
  'busy',
]);

export function isTransportFailure(error: unknown): error is TransportFailure {
  if (!(error instanceof Error) || !('kind' in error) || !('sent' in error)) return false;
  return KINDS.has(error.kind) && typeof error.sent === 'boolean';
}
