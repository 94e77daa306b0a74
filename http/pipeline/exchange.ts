import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Operation } from 'openapi-backend';
import type { AuthFailure } from '../../core/errors.ts';
import type { Environment } from './environments.ts';

/** The caller: an API client of the environment or a session of an operator, with the scopes of its token. */
export interface Principal {
  clientId: string;
  scopes: readonly string[];
  /** The name in the audit log and in the records of executions. */
  actor: string;
}

/**
 * One HTTP request; each step of the pipeline sets the members that it determines. It is a class, so that all objects
 * have their final shape from the beginning.
 */
export class Exchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly requestId: string;
  /** Milliseconds of a monotonic clock. */
  readonly startedAt: number = performance.now();
  /** The name of the request in the log and the metrics. */
  name: string;
  /** The operation of the contract; undefined at the other entry points. */
  operation: Operation | undefined = undefined;
  /** The method of a message to an MCP server. */
  mcpMethod: string | undefined = undefined;
  environment: Environment | undefined = undefined;
  client: Principal | undefined = undefined;
  /** Why the request was not authenticated, for the log. */
  authFailure: AuthFailure | undefined = undefined;
  /** Headers to add to the response, also to an error response: rate limits, CORS. */
  readonly responseHeaders: Record<string, string> = {};

  readonly #clientOf: (req: IncomingMessage) => string;

  /** @param clientOf the function that `createClientLookup` returns */
  constructor(
    req: IncomingMessage,
    res: ServerResponse,
    requestId: string,
    name: string,
    clientOf: (req: IncomingMessage) => string,
  ) {
    this.req = req;
    this.res = res;
    this.requestId = requestId;
    this.name = name;
    this.#clientOf = clientOf;
  }

  /** Identifies the client by its address, for limits. */
  get address(): string {
    return this.#clientOf(this.req);
  }
}
