/** JSON-RPC error of a server, its message free of secrets. */
export class RpcError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.name = 'RpcError';
    this.code = code;
  }
}

/** The server was silent for too long, or the call took too long as a whole. */
export class UpstreamTimeout extends Error {
  constructor(ms: number) {
    super(`The MCP server did not finish within ${Math.round(ms / 1000)} seconds.`);
    this.name = 'UpstreamTimeout';
  }
}

/** The caller is not interested any more. */
export class UpstreamCancelled extends Error {
  constructor() {
    super('The call was cancelled.');
    this.name = 'UpstreamCancelled';
  }
}
