import type { BinaryBody } from '../core/bodies/binary-body.ts';
import type { StreamedBody } from '../core/bodies/streamed-body.ts';
import type { ApiError, AuthFailure } from '../core/errors.ts';
import type { Cause } from '../core/events/events.ts';
import type { ExecutionEnd } from '../core/executions/execution-end.ts';
import type { ResponseValue } from '../core/present/schemas.ts';
import type { Transaction } from '../db/store.ts';
import type { operations, Writable } from '../generated/api.d.ts';
import type { Environment } from './pipeline/environments.ts';
import type { Principal } from './pipeline/exchange.ts';

export type { ResponseValue, Schemas } from '../core/present/schemas.ts';
export type { Principal } from './pipeline/exchange.ts';

/**
 * Types of handlers, derived from the contract, the OpenAPI description of the REST API. A status that an operation
 * does not declare, a body with a different schema, an additional property, a write-only property in a response or a
 * missing handler is a compile error (test/types proves each).
 */
export type OperationId = keyof operations;

type Parameters<O extends OperationId> = operations[O]['parameters'];
type Flat<T> = { [K in keyof T]: T[K] };
type Group<O extends OperationId, Place extends 'path' | 'query'> = Place extends keyof Parameters<O>
  ? Flat<NonNullable<Parameters<O>[Place]>>
  : Record<string, never>;

type Content<T> = T extends { content: infer C } ? C[keyof C] : undefined;

/** The request body, without read-only properties. */
export type RequestBody<O extends OperationId> = operations[O] extends { requestBody: infer B }
  ? Writable<Content<B>>
  : operations[O] extends { requestBody?: infer B }
    ? Writable<Content<NonNullable<B>>> | undefined
    : undefined;

type Responses<O extends OperationId> = operations[O]['responses'];

/** The statuses that an operation declares. */
export type StatusOf<O extends OperationId> = Extract<keyof Responses<O>, number>;

/** Media types of responses that are written in chunks. */
type StreamedMedia = 'text/event-stream' | 'application/jsonl';

/**
 * The body of one status, without write-only properties. For media types other than JSON: bytes, or a body that is
 * written in chunks.
 */
export type BodyOf<O extends OperationId, S extends StatusOf<O>> = Responses<O>[S] extends { content: infer C }
  ? '*/*' extends keyof C
    ? BinaryBody
    : keyof C extends StreamedMedia
      ? StreamedBody
      : ResponseValue<C[keyof C]>
  : undefined;

declare const brand: unique symbol;

/** A response of one operation. Only a responder creates one. */
export interface Reply<O extends OperationId = OperationId> {
  readonly status: number;
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string>>;
  /**
   * Omits Content-Length. Set for the response to a HEAD request if the length of the GET response is unknown, because
   * only the effects of a GET request determine it (RFC 9110 §8.6).
   */
  readonly omitsLength?: boolean;
  readonly [brand]: O;
}

type BodyArgument<B> = [B] extends [undefined] ? [body?: undefined] : [body: B];

/** Creates the response of one operation from a declared status and its body as defined by the contract. */
export type Responder<O extends OperationId> = <S extends StatusOf<O>>(
  status: S,
  ...rest: [...BodyArgument<BodyOf<O, S>>, headers?: Record<string, string>]
) => Reply<O>;

/** The object that a handler receives: an authenticated and validated request in one environment. */
export interface Call<O extends OperationId> {
  readonly environment: Environment;
  readonly client: Principal;
  /** Identifies the client by its address, for limits. Of an IPv6 address, only the network part is used. */
  readonly address: string;
  readonly requestId: string;
  /** The actor and the request, for the audit log. */
  readonly cause: Cause;
  readonly path: Group<O, 'path'>;
  readonly query: Group<O, 'query'>;
  readonly body: RequestBody<O>;
  /** Lower-cased request headers. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Returns the response of an expected error, for handlers that must return it instead of throwing. */
  problem(error: ApiError): Reply<O>;
  /** Records for the log why the credentials of the request were rejected. */
  refused(failure: AuthFailure): void;
  /**
   * Whether an earlier request has used the idempotency key. `commit` then replays the stored response, so the handler
   * skips preparations of `commit` that send requests to a third party.
   */
  isRepeated(): Promise<boolean>;
  /**
   * Runs the effect of the request in one durable transaction, together with its idempotency record.
   *
   * @param replies how responses are stored and replayed, if an operation shows more to some tokens than to others
   */
  commit(unit: (tx: Transaction) => Promise<Reply<O>>, replies?: StoredReplies<O>): Promise<Reply<O>>;
  /**
   * For an effect outside of the database. First `begin` and the claim of the idempotency key are committed. Then `act`
   * runs once, and its result is stored before the response is sent. If the result was lost, a later request with the
   * same key receives an error, which names `executionId` if the execution was recorded.
   */
  commitThenAct(
    executionId: string,
    begin: (tx: Transaction) => Promise<void>,
    act: () => Promise<EffectReply<O>>,
  ): Promise<Reply<O>>;
}

/**
 * How the response to a request with an idempotency key is stored, and replayed to a token that may have other scopes.
 */
export interface StoredReplies<O extends OperationId = OperationId> {
  /** Returns the response to store, without data that some tokens must not see. */
  keep?(reply: Reply<O>): Reply<O>;
  /** Returns the stored response as the token of this request may see it. @throws ApiError INSUFFICIENT_SCOPE */
  replay(tx: Transaction, kept: Reply<O>): Promise<Reply<O>>;
}

/** The result of an effect outside of the database. */
export interface EffectReply<O extends OperationId = OperationId> {
  reply: Reply<O>;
  /** The end of the execution, stored together with the reply. */
  end?: ExecutionEnd;
}

/** Handles an operation. Receives the dependencies of its group of operations (a capability), if it needs any. */
export type Handler<O extends OperationId, Capability = undefined> = (
  call: Call<O>,
  reply: Responder<O>,
  ...capability: [Capability] extends [undefined] ? [] : [capability: Capability]
) => Reply<O> | Promise<Reply<O>>;

export type Handlers = { [O in OperationId]: Handler<O> };
