/** The outcome of an MCP request. Secrets were removed from every text in it. */
export type WireOutcome =
  /** `result` has the type that `UpstreamResults` has for the method. */
  | { kind: 'result'; result: unknown }
  /** The server returned a JSON-RPC error (JSON-RPC 2.0 §5.1). */
  | { kind: 'error'; code: number; message: string }
  /** No readable response arrived. */
  | { kind: 'failed'; error: unknown };

/**
 * One use of a session with an MCP server: the handshake or a call. It has the limits of its HTTP requests, and the
 * outcome of the last one. The MCP SDK receives only an outline of results, so their content is taken from here.
 */
export interface WireCall {
  /** Identifies the requests of this call in the MCP SDK. It is never sent. */
  readonly key: string;
  /** Aborts the requests of this call. */
  readonly signal: AbortSignal;
  /** A request fails after this many milliseconds without data. */
  readonly silenceMs: number;
  /** The maximum size of one response, in bytes. */
  readonly bytes: number;
  outcome?: WireOutcome;
}

/** The member of `_meta` that contains the key of a call. It is removed before sending. */
export const CALL_KEY = 'valetkey/call';
