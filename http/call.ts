import type { ApiError } from '../core/errors.ts';
import type { Call, OperationId, Reply } from './contract.ts';
import type { Deps } from './deps.ts';
import type { Exchange } from './exchange.ts';
import { createIdempotency } from './idempotency.ts';
import { problemReply } from './problem.ts';
import type { ContractRequest } from './request.ts';

const NOBODY = { clientId: 'anonymous', scopes: [] as string[] };

/** What a handler gets of a request, once it is authenticated and valid. */
export function createCall(request: ContractRequest, exchange: Exchange, deps: Deps): Call<OperationId> {
  const { environment, client = NOBODY, requestId } = exchange;
  const call = {
    get environment() {
      if (!environment) throw new Error('the operation answers on every host and has no environment');
      return environment;
    },
    client,
    requestId,
    get cause() {
      return { environmentId: call.environment.id, actor: client.clientId, requestId };
    },
    path: request.params,
    query: request.query,
    body: request.body,
    headers: request.headers,
    problem: (error: ApiError) => problemReply(error, requestId),
    commit: (unit: Parameters<Call<OperationId>['commit']>[0]): Promise<Reply> =>
      createIdempotency(request, exchange, deps).commit(unit),
    commitThenAct: (...args: Parameters<Call<OperationId>['commitThenAct']>): Promise<Reply> =>
      createIdempotency(request, exchange, deps).commitThenAct(...args),
  };
  return call as unknown as Call<OperationId>;
}
