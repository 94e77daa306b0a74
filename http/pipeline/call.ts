import type { ApiError, AuthFailure } from '../../core/errors.ts';
import type { Cause } from '../../core/events/events.ts';
import type { Call, OperationId, Reply } from '../contract.ts';
import { problemReply, retryAfterOf } from '../responses/problem.ts';
import type { Environment } from './environments.ts';
import type { Exchange, Principal } from './exchange.ts';
import { createIdempotency, type IdempotencyDeps } from './idempotency.ts';
import type { ContractRequest } from './request.ts';

type AnyCall = Call<OperationId>;

const ANONYMOUS: Principal = { clientId: 'anonymous', scopes: [], actor: 'anonymous' };

/**
 * A class instead of an object literal: a literal with getters would get a new hidden class for every request, which
 * only a full garbage collection frees.
 */
class RequestCall {
  readonly client: Principal;
  readonly requestId: string;
  readonly path: ContractRequest['params'];
  readonly query: ContractRequest['query'];
  readonly body: ContractRequest['body'];
  readonly headers: ContractRequest['headers'];
  readonly #request: ContractRequest;
  readonly #exchange: Exchange;
  readonly #deps: IdempotencyDeps;

  constructor(request: ContractRequest, exchange: Exchange, deps: IdempotencyDeps) {
    this.client = exchange.client ?? ANONYMOUS;
    this.requestId = exchange.requestId;
    this.path = request.params;
    this.query = request.query;
    this.body = request.body;
    this.headers = request.headers;
    this.#request = request;
    this.#exchange = exchange;
    this.#deps = deps;
  }

  get address(): string {
    return this.#exchange.address;
  }

  get environment(): Environment {
    const { environment } = this.#exchange;
    if (!environment) throw new Error('the operation is served on every host and has no environment');
    return environment;
  }

  get cause(): Cause {
    return { environmentId: this.environment.id, actor: this.client.actor, requestId: this.requestId };
  }

  problem(error: ApiError): Reply {
    return problemReply(error, this.requestId, retryAfterOf(error));
  }

  refused(failure: AuthFailure): void {
    this.#exchange.authFailure = failure;
  }

  isRepeated(): Promise<boolean> {
    return createIdempotency(this.#request, this.#exchange, this.#deps).isUsed();
  }

  commit(...args: Parameters<AnyCall['commit']>): Promise<Reply> {
    return createIdempotency(this.#request, this.#exchange, this.#deps).commit(...args);
  }

  commitThenAct(...args: Parameters<AnyCall['commitThenAct']>): Promise<Reply> {
    return createIdempotency(this.#request, this.#exchange, this.#deps).commitThenAct(...args);
  }
}

/** Creates the object that a handler receives for an authenticated and valid request. */
export function createCall(request: ContractRequest, exchange: Exchange, deps: IdempotencyDeps): AnyCall {
  return new RequestCall(request, exchange, deps) as unknown as AnyCall;
}
