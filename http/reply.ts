import type { OperationId, Reply, Responder } from './contract.ts';

const NO_HEADERS = Object.freeze({});

/** Creates responses. The types of the contract check them; at run time it is a plain record. */
export const respond = ((status: number, body?: unknown, headers: Record<string, string> = NO_HEADERS) => ({
  status,
  body,
  headers,
})) as unknown as Responder<OperationId> & UntypedResponder;

/** For responses from outside a handler: problems, replays. */
type UntypedResponder = (status: number, body?: unknown, headers?: Record<string, string>) => Reply;

export const respondUntyped: UntypedResponder = respond;
