import type { Express, RequestHandler } from 'express';
import { ApiError } from '../../core/errors.ts';
import type { Reply } from '../contract.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import type { EntryPoint } from '../pipeline/pipeline.ts';

/** The members of `res.locals` that routes use. */
interface Locals {
  exchange: Exchange;
  settle(reply: Reply | number): void;
}

/** Handles one request with decoded path parameters. */
export type Route = (exchange: Exchange, params: Readonly<Record<string, string>>) => Promise<Reply | number>;

export interface ExpressEntryPoint extends EntryPoint {
  /** Loads the application if it is not loaded yet. */
  load(): Promise<Express>;
}

/**
 * An entry point whose requests express dispatches. The application is loaded after the start or with the first
 * request, because express and its dependencies take a fifth of the start time. If loading fails, the next request
 * tries again.
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

/**
 * Converts a function that returns a response to an express route. An error that it throws becomes the error response
 * of its entry point.
 */
export function route(serve: Route): RequestHandler {
  return async (req, res) => {
    const { exchange, settle } = res.locals as Locals;
    settle(await serve(exchange, req.params as Record<string, string>));
  };
}

/** Returns a middleware that runs a function before routes. */
export function before(step: (exchange: Exchange) => unknown): RequestHandler {
  return async (_req, res, next) => {
    await step((res.locals as Locals).exchange);
    next();
  };
}

/** Returns the handler for methods that a path does not support. */
export function otherMethods(...methods: string[]): RequestHandler {
  return (_req, res) => {
    const allow = methods.join(', ');
    (res.locals as Locals).exchange.responseHeaders['allow'] = allow;
    throw new ApiError('METHOD_NOT_ALLOWED', `The path does not support this method (supported: ${allow}).`);
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

/**
 * Whether an error is from express itself: no matching route (undefined), a path that cannot be decoded, or a missing
 * file. The texts of these errors repeat the path, so they are not shown.
 */
function isOfExpress(error: unknown): boolean {
  if (error === undefined) return true;
  const { status } = error as { status?: unknown };
  return !(error instanceof ApiError) && typeof status === 'number' && status < 500;
}

function notFound(): ApiError {
  return new ApiError('NOT_FOUND', 'The page does not exist.');
}
