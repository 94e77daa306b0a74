import type { BreakerLimits } from './breaker.ts';

/** Every bound of the room. Times are in milliseconds, sizes in bytes. */
export interface EgressLimits extends BreakerLimits {
  /** One call from start to end: waiting for a place, connecting, every hop, the whole body. */
  timeoutMs: number;
  /** Longest silence once an answer has begun. */
  idleTimeoutMs: number;
  /** Name, address and handshake of one connection. */
  connectTimeoutMs: number;
  /** Body, both on the wire and inflated. */
  maxBytes: number;
  maxHeaderBytes: number;
  /** Inflated size as a multiple of the compressed one, which counts from `ratioFloorBytes` on. */
  maxRatio: number;
  ratioFloorBytes: number;
  /** Redirects that one call may follow, where it follows any. */
  maxRedirects: number;
  /** Calls under way to one origin, and calls that may wait for one of these places. */
  callsPerOrigin: number;
  queuePerOrigin: number;
  /** The body of an answer that is handed on as it arrives. */
  streamTimeoutMs: number;
  streamMaxBytes: number;
  /** One protocol call (token, discovery, revocation, identity), and the body of its answer. */
  protocolTimeoutMs: number;
  protocolMaxBytes: number;
}

export const DEFAULT_LIMITS: Readonly<EgressLimits> = {
  timeoutMs: 30_000,
  idleTimeoutMs: 10_000,
  connectTimeoutMs: 10_000,
  maxBytes: 10 * 1024 * 1024,
  maxHeaderBytes: 64 * 1024,
  maxRatio: 100,
  ratioFloorBytes: 1024 * 1024,
  maxRedirects: 3,
  callsPerOrigin: 64,
  queuePerOrigin: 256,
  breakerFailures: 5,
  breakerPauseMs: 5_000,
  breakerMaxPauseMs: 60_000,
  streamTimeoutMs: 5 * 60_000,
  streamMaxBytes: 100 * 1024 * 1024,
  protocolTimeoutMs: 15_000,
  protocolMaxBytes: 1024 * 1024,
};
