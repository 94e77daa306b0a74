import { allowInsecureRequests } from 'oauth4webapi';

/**
 * For every call of the library: what it is given are endpoints that have been judged, in plain http on this machine alone. Whether
 * those may be called is for the egress rules of the environment to say.
 */
export const JUDGED_ENDPOINTS = { [allowInsecureRequests]: true } as const;

/**
 * The subset of fetch that protocol calls use; core/net provides one that is pinned to origins. Only requests for documents are
 * retried after a failure and follow redirects within their origin.
 */
export type ProtocolFetch = (url: string | URL, init?: RequestInit & { isDocument?: boolean }) => Promise<Response>;

/** A request for a public document: it carries no credential and changes nothing, so it may be sent again. */
export const DOCUMENT = { headers: { accept: 'application/json' }, redirect: 'manual', isDocument: true } as const;

/** Gives a fetch that reaches these origins only. A flow learns some of its destinations on the way, so it asks for each. */
export type FetchFor = (origins: readonly string[]) => ProtocolFetch | Promise<ProtocolFetch>;

/** A fetch whose every request is pinned to the origin that it is meant for. */
export function pinnedToTarget(fetchFor: FetchFor): ProtocolFetch {
  return async (url, init) => (await fetchFor([new URL(url).origin]))(url, init);
}

/** The error of a transport for a call without a response. The message is public. */
export interface TransportFailure {
  kind: 'blocked' | 'unreachable' | 'timeout' | 'too_large' | 'invalid_response' | 'tls' | 'aborted' | 'busy';
  /** The first byte of the request may have left. */
  sent: boolean;
  /** When another call may be of use, where that is known. */
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
