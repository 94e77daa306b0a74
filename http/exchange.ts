import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Operation } from 'openapi-backend';
import type { Environment } from './environments.ts';

/** Who calls: an API client of the environment, with the scopes of its token. */
export interface Principal {
  clientId: string;
  scopes: readonly string[];
}

/**
 * One HTTP request on its way through the pipeline; each step fills in what it finds out. A class, so that it has its final shape from
 * the beginning.
 */
export class Exchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly requestId: string;
  /** Milliseconds of a monotonic clock. */
  readonly startedAt: number = performance.now();
  operation: Operation | undefined;
  environment: Environment | undefined = undefined;
  client: Principal | undefined = undefined;
  /** Headers that belong to the answer whatever it is: rate limits. */
  readonly answerHeaders: Record<string, string> = {};

  /** @param operation where it is known beforehand */
  constructor(req: IncomingMessage, res: ServerResponse, requestId: string, operation?: Operation) {
    this.req = req;
    this.res = res;
    this.requestId = requestId;
    this.operation = operation;
  }
}
