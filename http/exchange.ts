import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Operation } from 'openapi-backend';
import type { Environment } from './environments.ts';

/** Who calls: an API client of the environment, with the scopes of its token. */
export interface Principal {
  clientId: string;
  scopes: readonly string[];
}

/** One HTTP request on its way through the pipeline; each step fills in what it finds out. */
export interface Exchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly requestId: string;
  /** Milliseconds of a monotonic clock. */
  readonly startedAt: number;
  operation?: Operation;
  environment?: Environment;
  client?: Principal;
  /** Headers that belong to the answer whatever it is: rate limits. */
  readonly answerHeaders: Record<string, string>;
}
