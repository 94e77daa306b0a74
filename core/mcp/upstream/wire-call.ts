/** What a request of the protocol came to, as the server said it. Every text in it is free of secrets. */
export type WireOutcome =
  /** As `UpstreamResults` has it for the method. */
  | { kind: 'result'; result: unknown }
  /** JSON-RPC 2.0 §5.1. */
  | { kind: 'error'; code: number; message: string }
  /** Nothing that can be read came back. */
  | { kind: 'failed'; error: unknown };

/**
 * One use of a session: its requests, and what came of the last one. The package of the protocol sees the results in outline only; what
 * they hold is taken from here.
 */
export interface WireCall {
  /** Marks the requests of this call on their way through the package. It is never sent. */
  readonly key: string;
  /** Ends the requests of this call. */
  readonly signal: AbortSignal;
  /** Milliseconds of silence after which a request fails. */
  readonly silenceMs: number;
  /** Bytes that one response may have. */
  readonly bytes: number;
  outcome?: WireOutcome;
}

/** The member of `_meta` that carries the key of a call to the wire. */
export const CALL_KEY = 'valetkey/call';
