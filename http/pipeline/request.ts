import type { IncomingMessage } from 'node:http';
import type { Request } from 'openapi-backend';
import { REQUEST_BODY } from '../../core/budgets.ts';
import type { Pairs } from './query.ts';
import { parsePairs } from './query.ts';

/**
 * The request that is passed to `ContractBackend`. The path is parsed before routing, and the query at its first use.
 * `body` is set after authentication.
 */
export interface ContractRequest extends Request {
  method: string;
  path: string;
  query: Pairs;
  headers: Record<string, string | string[]>;
  params: Record<string, string>;
  /** The size of the body in bytes; 0 if there is none. */
  bodyBytes: number;
  /** SHA-256 of a body that was parsed in a thread; used to compare requests. */
  bodyDigest: Buffer | undefined;
}

class IncomingRequest implements ContractRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: ContractRequest['headers'];
  params: Record<string, string> = {};
  body: ContractRequest['body'] = undefined;
  bodyBytes = 0;
  bodyDigest: Buffer | undefined = undefined;
  readonly #queryText: string;
  #query: Pairs | undefined;

  constructor(req: IncomingMessage) {
    const target = req.url ?? '/';
    const mark = target.indexOf('?');
    const path = mark < 0 ? target : target.slice(0, mark);
    this.method = req.method ?? 'GET';
    // A `:` may be percent-encoded by the client; operations such as `:search` are matched literally.
    this.path = path.includes('%') ? path.replace(/%3a/gi, ':') : path;
    this.headers = req.headers as ContractRequest['headers'];
    this.#queryText = mark < 0 ? '' : target.slice(mark + 1);
  }

  /** Parsed on first use, so that an invalid query is reported by its operation with 400 and is not a routing error. */
  get query(): Pairs {
    this.#query ??= parsePairs(this.#queryText, 'the query', REQUEST_BODY.queryPairs);
    return this.#query;
  }
}

/** Creates the request for `ContractBackend`. */
export function readRequest(req: IncomingMessage): ContractRequest {
  return new IncomingRequest(req);
}
