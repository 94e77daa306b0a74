import type { Express, RequestHandler } from 'express';
import { ApiError } from '../../core/errors.ts';
import type { Reply } from '../contract.ts';
import type { Exchange } from '../exchange.ts';
import type { EntryPoint } from '../pipeline.ts';

/** What a route knows of the request that it serves. */
interface Locals {
  exchange: Exchange;
  settle(reply: Reply | number): void;
}

/** Serves one request: its parameters of the path are decoded. */
export type Route = (exchange: Exchange, params: Readonly<Record<string, string>>) => Promise<Reply | number>;

export interface ExpressEntryPoint extends EntryPoint {
  /** Loads the application, unless it is loaded. */
  load(): Promise<Express>;
}

/**
 * An entry point whose requests express dispatches. The application is loaded after the start or with the first request: express and its
 * dependencies take a fifth of the time of a start. A load that failed is tried again with the next request.
 */
export function expressEntryPoint(
  name: string,
  create: () => Promise<Express>,
  showError: EntryPoint['showError'],
): ExpressEntryPoint {
  let loading: Promise<Express> | undefined;
  const forget = (error: unknown) => {
    loading = undefined;
    throw error;
  };
  const load = () => {
    loading ??= create().catch(forget);
    return loading;
  };
  return {
    name,
    showError,
    load,
    async dispatch(exchange) {
      return run(await load(), exchange);
    },
  };
}

/** Makes a route of express of a function that returns its response. What it throws becomes the error of its entry point. */
export function route(serve: Route): RequestHandler {
  return async (req, res) => {
    const { exchange, settle } = res.locals as Locals;
    settle(await serve(exchange, req.params as Record<string, string>));
  };
}

/** A step in front of routes. */
export function before(step: (exchange: Exchange) => unknown): RequestHandler {
  return async (_req, res, next) => {
    await step((res.locals as Locals).exchange);
    next();
  };
}

/** What a path with these methods does with any other one. */
export function otherMethods(...methods: string[]): RequestHandler {
  return (_req, res) => {
    (res.locals as Locals).exchange.responseHeaders['allow'] = methods.join(', ');
    throw new ApiError('METHOD_NOT_ALLOWED', 'The path does not support this method.');
  };
}

function run(app: Express, exchange: Exchange): Promise<Reply | number> {
  const { req, res } = exchange;
  return new Promise((settle, reject) => {
    Object.assign(res, { locals: { exchange, settle } satisfies Locals });
    // Called if no route matches the request, and with the errors of routes.
    app(req as never, res as never, (error?: unknown) => reject(isOfExpress(error) ? notFound() : error));
  });
}

/** Errors of express itself: a path that cannot be decoded, a file that is not there. Their texts repeat the path. */
function isOfExpress(error: unknown): boolean {
  if (error === undefined) return true;
  const { status } = error as { status?: unknown };
  return !(error instanceof ApiError) && typeof status === 'number' && status < 500;
}

function notFound(): ApiError {
  return new ApiError('NOT_FOUND', 'The page does not exist.');
}
