import type { BinaryBody } from '../core/binary-body.ts';
import type { ApiError, AuthFailure } from '../core/errors.ts';
import type { Cause } from '../core/events/events.ts';
import type { ExecutionEnd } from '../core/executions/execution-end.ts';
import type { Answered } from '../core/present/schemas.ts';
import type { Transaction } from '../db/store.ts';
import type { operations, Writable } from '../generated/api.d.ts';
import type { Environment } from './environments.ts';
import type { Principal } from './exchange.ts';

export type { Answered, Schemas } from '../core/present/schemas.ts';
export type { Principal } from './exchange.ts';

/**
 * Types of handlers, derived from the contract. A status that an operation does not declare, a body with a different schema, an
 * additional property, a write-only property in a response or a missing handler is a compile error (test/types proves each).
 */
export type OperationId = keyof operations;

type Parameters<O extends OperationId> = operations[O]['parameters'];
type Flat<T> = { [K in keyof T]: T[K] };
type Group<O extends OperationId, Place extends 'path' | 'query'> = Place extends keyof Parameters<O>
  ? Flat<NonNullable<Parameters<O>[Place]>>
  : Record<string, never>;

type Content<T> = T extends { content: infer C } ? C[keyof C] : undefined;

/** The body that a client sends, without read-only properties. */
export type RequestBody<O extends OperationId> = operations[O] extends { requestBody: infer B }
  ? Writable<Content<B>>
  : operations[O] extends { requestBody?: infer B }
    ? Writable<Content<NonNullable<B>>> | undefined
    : undefined;

type Responses<O extends OperationId> = operations[O]['responses'];

/** The statuses that an operation declares. */
export type StatusOf<O extends OperationId> = Extract<keyof Responses<O>, number>;

/** The body of one status, without write-only properties. Bytes for other media types than JSON. */
export type BodyOf<O extends OperationId, S extends StatusOf<O>> = Responses<O>[S] extends { content: infer C }
  ? '*/*' extends keyof C
    ? BinaryBody
    : Answered<C[keyof C]>
  : undefined;

declare const brand: unique symbol;

/** A response of one operation. Only a responder creates one. */
export interface Reply<O extends OperationId = OperationId> {
  readonly status: number;
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string>>;
  readonly [brand]: O;
}

type BodyArgument<B> = [B] extends [undefined] ? [body?: undefined] : [body: B];

/** Creates the response of one operation from a declared status and the body that the contract defines for it. */
export type Responder<O extends OperationId> = <S extends StatusOf<O>>(
  status: S,
  ...rest: [...BodyArgument<BodyOf<O, S>>, headers?: Record<string, string>]
) => Reply<O>;

/** What a handler gets of a request: authenticated, validated, inside one environment. */
export interface Call<O extends OperationId> {
  readonly environment: Environment;
  readonly client: Principal;
  readonly requestId: string;
  /** Who does what the call does, for the audit log. */
  readonly cause: Cause;
  readonly path: Group<O, 'path'>;
  readonly query: Group<O, 'query'>;
  readonly body: RequestBody<O>;
  /** Lower-cased request headers. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The response of an expected failure, for handlers that must return it instead of throwing. */
  problem(error: ApiError): Reply<O>;
  /** Notes for the log why the credentials of the request are refused. */
  refused(failure: AuthFailure): void;
  /**
   * Runs the effect of the request in one durable transaction, together with its idempotency record.
   *
   * @param replies for an operation whose replies show more to some tokens than to others
   */
  commit(unit: (tx: Transaction) => Promise<Reply<O>>, replies?: KeptReplies<O>): Promise<Reply<O>>;
  /**
   * For an effect outside the database: `begin` and the claim of the idempotency key are committed first, then `act` runs once, and
   * what it came to is stored before its reply is sent. `executionId` is what a later request with the same key is told when the
   * outcome was lost.
   */
  commitThenAct(
    executionId: string,
    begin: (tx: Transaction) => Promise<void>,
    act: () => Promise<Acted<O>>,
  ): Promise<Reply<O>>;
}

/** How the reply to a request with an idempotency key is kept, and replayed to a token that may have other scopes. */
export interface KeptReplies<O extends OperationId = OperationId> {
  /** The reply as it is kept: what not every token may see is left out. */
  keep?(reply: Reply<O>): Reply<O>;
  /** The kept reply as the token of this request may see it. @throws ApiError INSUFFICIENT_SCOPE */
  replay(tx: Transaction, kept: Reply<O>): Promise<Reply<O>>;
}

/** What an effect outside the database came to. */
export interface Acted<O extends OperationId = OperationId> {
  reply: Reply<O>;
  /** The end of the execution that it was recorded as. */
  end?: ExecutionEnd;
}

/** Serves an operation, with the one capability that it needs; without one where none is named. */
export type Handler<O extends OperationId, Capability = undefined> = (
  call: Call<O>,
  reply: Responder<O>,
  ...capability: [Capability] extends [undefined] ? [] : [capability: Capability]
) => Reply<O> | Promise<Reply<O>>;

export type Handlers = { [O in OperationId]: Handler<O> };
