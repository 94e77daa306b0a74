import type { ErrorObject } from 'ajv';
import type { Context, Operation } from 'openapi-backend';
import { BinaryBody } from '../../core/bodies/binary-body.ts';
import { ApiError } from '../../core/errors.ts';
import type { ThreadPool } from '../../core/threads/pool.ts';
import type { Store } from '../../db/store.ts';
import { hasBody, readBody } from '../body/body.ts';
import { type BodyMemory, bodyHoldOf } from '../body/body-hold.ts';
import { type BodyRule, bodyRuleOf } from '../body/body-rule.ts';
import { parseInThread } from '../body/json-job.ts';
import type { Config } from '../config/config.ts';
import type { Handler, Handlers, OperationId, Reply } from '../contract.ts';
import { type Authentication, authenticate } from '../pipeline/bearer.ts';
import { createCall } from '../pipeline/call.ts';
import { corsForAll, preflightHeaders } from '../pipeline/cors.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import type { IdempotencyDeps } from '../pipeline/idempotency.ts';
import type { EntryPoint, Pipeline } from '../pipeline/pipeline.ts';
import { type ContractRequest, readRequest } from '../pipeline/request.ts';
import { browserErrorReply } from '../responses/browser-error.ts';
import { errorReply } from '../responses/failure.ts';
import { respond, respondUntyped } from '../responses/reply.ts';
import { ContractBackend } from '../routing/backend.ts';
import { presentErrors } from '../validation/field-errors.ts';
import { createResponseCheck } from '../validation/response-check.ts';
import type { Contract } from '../validation/served-contract.ts';

/** Operations that are available on every host, because health probes use the server's address. */
const ANY_HOST = new Set(['getHealth', 'getReadiness']);

export interface OperationsEntryPoint extends EntryPoint {
  readonly backend: ContractBackend;
}

export interface OperationDeps extends Authentication, BodyMemory, IdempotencyDeps {
  readonly config: Pick<Config, 'checkAllResponses'>;
  readonly store: Store;
  /** Parses large bodies. */
  readonly threads: { readonly short: ThreadPool };
  /** The places of secrets in the contract, such as `createApiClient 201 $.client_secret`. */
  readonly secretPaths: readonly string[];
}

/**
 * Serves the operations of the contract. openapi-backend dispatches them in this order: route, environment, token and
 * scope, rate limit, body, validation, handler. Responses that carry credentials are checked against the contract. With
 * `checkAllResponses`, all responses are checked, including error responses.
 */
export async function createOperations(
  contract: Contract,
  handlers: Handlers,
  deps: OperationDeps,
  pipeline: Pipeline,
): Promise<OperationsEntryPoint> {
  const backend = new ContractBackend(contract);
  await backend.init();
  const checkResponse = createResponseCheck(contract.validators);
  const secretOperations = operationsWithCredentials(deps.secretPaths);
  const bodyRules = new Map(backend.routes.getOperations().map((operation) => [operation, bodyRuleOf(operation)]));

  backend.register({
    notFound: () => {
      throw new ApiError('NOT_FOUND', 'The path does not exist.');
    },
    methodNotAllowed: (context: Context, exchange: Exchange) => {
      const { path, method } = requestOf(context);
      const methods = backend.routes.methodsOf(path);
      if (method === 'OPTIONS' && backend.routes.operationsOf(path).some(isForPages)) {
        return respondUntyped(204, undefined, { ...corsForAll(), ...preflightHeaders(exchange.req, methods) });
      }
      const allow = methods.join(', ');
      exchange.responseHeaders['allow'] = allow;
      throw new ApiError('METHOD_NOT_ALLOWED', `The path does not support this method (supported: ${allow}).`);
    },
    postRoutingHandler: (context: Context, exchange: Exchange) => {
      if (!context.operation) return;
      exchange.operation = context.operation;
      exchange.name = context.operation.operationId as string;
      if (isForPages(context.operation)) Object.assign(exchange.responseHeaders, corsForAll());
      if (ANY_HOST.has(context.operation.operationId as string)) return;
      return whenKnown(pipeline.findEnvironment(exchange), () => {});
    },
    postSecurityHandler: (context: Context, exchange: Exchange) => {
      if (isRefused(context)) return;
      pipeline.limit(exchange);
      if (!hasBody(exchange.req)) return;
      const rule = bodyRules.get(context.operation) as BodyRule;
      const parseLarge = (bytes: Buffer) => parseInThread(deps.threads.short, exchange.environment?.id ?? '', bytes);
      return whenKnown(
        readBody(exchange.req, rule, bodyHoldOf(exchange, deps), parseLarge),
        ({ value, bytes, digest }) => {
          const request = requestOf(context);
          request.body = value as never;
          request.bodyBytes = bytes;
          request.bodyDigest = digest;
        },
      );
    },
    unauthorizedHandler: (context: Context) => {
      throw refusalOf(context);
    },
    validationFail: (context: Context) => {
      const errors = presentErrors(context.validation.errors as ErrorObject[]);
      throw new ApiError('VALIDATION_FAILED', 'The request does not match the contract.', { errors });
    },
  } as never);
  backend.registerSecurityHandler('oauth2', (context: Context, exchange: Exchange) =>
    authenticate(exchange, requiredScope(context.operation), deps),
  );
  for (const [operationId, handler] of Object.entries(handlers)) {
    backend.register(operationId, (context: Context, exchange: Exchange) =>
      (handler as Handler<OperationId>)(createCall(requestOf(context), exchange, deps), respond),
    );
  }

  /**
   * Reserves memory for the file in a response until the response is closed.
   *
   * @throws ApiError SERVER_BUSY
   */
  function reserveFileMemory(exchange: Exchange, { body }: Reply): void {
    if (!(body instanceof BinaryBody) || bodyHoldOf(exchange, deps).grow(body.bytes.length)) return;
    throw new ApiError('SERVER_BUSY', 'The server does not have enough free memory for this file. Try again soon.');
  }

  return {
    backend,
    name: 'none',
    async dispatch(exchange) {
      void deps.store.shareReads();
      const reply = (await backend.handleRequest(readRequest(exchange.req), exchange)) as Reply;
      reserveFileMemory(exchange, reply);
      const { operation } = exchange;
      if (operation && (deps.config.checkAllResponses || secretOperations.has(exchange.name))) {
        const wrong = checkResponse(operation, reply);
        if (wrong) throw new Error(`the response of ${exchange.name} violates the contract: ${wrong}`);
      }
      return reply;
    },
    showError(error, exchange) {
      const { operation } = exchange;
      // A path without an operation may have been opened in a browser, which gets a page. Clients call operations.
      if (!operation) return browserErrorReply(error, exchange);
      const reply = errorReply(error, exchange);
      const wrong = deps.config.checkAllResponses ? checkResponse(operation, reply) : null;
      if (!wrong) return reply;
      deps.log.error({ request_id: exchange.requestId, wrong }, 'an error response breaks the contract');
      return errorReply(
        new ApiError('INTERNAL_ERROR', 'The request failed because of an internal error of the server.'),
        exchange,
      );
    },
  };
}

/** Continues synchronously if the value is not a promise, which is the usual case. */
function whenKnown<T>(value: T | Promise<T>, use: (value: T) => void): void | Promise<void> {
  return value instanceof Promise ? value.then(use) : use(value);
}

/**
 * Whether pages of every origin may call an operation: MCP clients in a browser need some operations to find the
 * authorization server and get tokens.
 */
function isForPages(operation: Operation): boolean {
  return (operation as { 'x-valetkey-cors'?: string })['x-valetkey-cors'] === 'any-origin';
}

/** Returns the request that was passed to the backend. */
function requestOf(context: Context): ContractRequest {
  return context.request as unknown as ContractRequest;
}

function requiredScope(operation: Operation): string {
  const [requirement] = operation.security ?? [];
  return (requirement?.['oauth2'] as string[] | undefined)?.[0] ?? 'admin';
}

function isRefused(context: Context): boolean {
  return (context.operation.security?.length ?? 0) > 0 && !context.security?.['authorized'];
}

function refusalOf(context: Context): unknown {
  const result = context.security?.['oauth2'] as { error?: unknown } | undefined;
  return result?.error ?? new ApiError('UNAUTHENTICATED', 'An access token is required.');
}

function operationsWithCredentials(secretPaths: readonly string[]): Set<string> {
  return new Set(secretPaths.map((path) => path.split(' ')[0] as string));
}
