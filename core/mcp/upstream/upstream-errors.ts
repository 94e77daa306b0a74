/** A JSON-RPC error that an MCP server returned. Secrets were removed from its message. */
export class RpcError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.name = 'RpcError';
    this.code = code;
  }
}

/** The MCP server sent no message for too long, or the whole call took too long. */
export class UpstreamTimeout extends Error {
  constructor(ms: number) {
    super(`The MCP server did not finish within ${Math.round(ms / 1000)} seconds.`);
    this.name = 'UpstreamTimeout';
  }
}

/** The caller no longer wants the result. */
export class UpstreamCancelled extends Error {
  constructor() {
    super('The call was cancelled.');
    this.name = 'UpstreamCancelled';
  }
}
