import type { OutboundRequest } from './wire.ts';

/** Signs the requests of one account. A repeated request is signed again. */
export interface RequestSigner {
  /** @param request ready but for its signature; header names in lower case */
  sign(request: OutboundRequest): OutboundRequest;
  /** The same request as people may see it: what is secret, and what differs from call to call, is masked. */
  preview(request: OutboundRequest): OutboundRequest;
  /** Texts that must not appear in a response. */
  secrets: readonly string[];
}
