import type { OperationId, Reply, Responder } from '../contract.ts';

const NO_HEADERS = Object.freeze({});

/** Creates responses. The types ensure that they match the contract; at run time a response is a plain object. */
export const respond = ((status: number, body?: unknown, headers: Record<string, string> = NO_HEADERS) => ({
  status,
  body,
  headers,
})) as unknown as Responder<OperationId> & UntypedResponder;

/** For responses that do not come from a handler, such as problems, replays and pages. */
type UntypedResponder = (status: number, body?: unknown, headers?: Record<string, string>) => Reply;

export const respondUntyped: UntypedResponder = respond;
