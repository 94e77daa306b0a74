import type { IncomingMessage } from 'node:http';
import type { Request } from 'openapi-backend';
import { REQUEST_BODY } from '../core/budgets.ts';
import type { Pairs } from './query.ts';
import { parsePairs } from './query.ts';

/** What is handed to the backend of one HTTP request; parsed once, before routing. `body` is filled in after authentication. */
export interface ContractRequest extends Request {
  method: string;
  path: string;
  query: Pairs;
  headers: Record<string, string | string[]>;
  params: Record<string, string>;
  /** Size of the body, 0 where there is none. */
  bodyBytes: number;
  /** SHA-256 of a body that is too large to be compared in another way. */
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
    // A `:` may arrive escaped; operations such as `:search` are matched literally.
    this.path = path.includes('%') ? path.replace(/%3a/gi, ':') : path;
    this.headers = req.headers as ContractRequest['headers'];
    this.#queryText = mark < 0 ? '' : target.slice(mark + 1);
  }

  /** Parsed on first use: a broken query is the client's 400 of a known operation, not a failure of routing. */
  get query(): Pairs {
    this.#query ??= parsePairs(this.#queryText, 'the query', REQUEST_BODY.queryPairs);
    return this.#query;
  }
}

/** Splits the target once. */
export function readRequest(req: IncomingMessage): ContractRequest {
  return new IncomingRequest(req);
}
