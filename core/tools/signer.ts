import type { OutboundRequest } from './wire.ts';

/** Signs the requests of one account. A repeated request must be signed again. */
export interface RequestSigner {
  /**
   * Returns the request with its signature.
   *
   * @param request complete except for the signature; header names in lower case
   */
  sign(request: OutboundRequest): OutboundRequest;
  /** Returns the signed request as a dry run shows it: secrets, and values that differ in each call, are masked. */
  preview(request: OutboundRequest): OutboundRequest;
  /** Texts that must not appear in a response. */
  secrets: readonly string[];
}
