import type { components } from '../../generated/api.d.ts';
import { EXIT } from '../exit-codes.ts';
import { shown } from '../output/print.ts';

type Problem = components['schemas']['Problem'] &
  Partial<Pick<components['schemas']['AccountStateProblem'], 'next_action'>>;

/** An unsuccessful response of the server. The message describes it for people. */
export class ApiFailure extends Error {
  override name = 'ApiFailure';
  readonly exitCode: number;
  readonly status: number;

  /** @param body the parsed response, which is a problem document, an OAuth error, or anything a proxy returns */
  constructor(status: number, body: unknown) {
    super(describe(status, body));
    this.status = status;
    this.exitCode = exitCodes[status] ?? EXIT.failed;
  }
}

const exitCodes: Readonly<Record<number, number>> = { 401: EXIT.notAllowed, 403: EXIT.notAllowed, 404: EXIT.notFound };

/** The server could not be reached, or did not respond in time. */
export class UnreachableError extends Error {
  override name = 'UnreachableError';
  readonly exitCode = EXIT.unreachable;

  constructor(origin: string, cause: unknown) {
    super(`the server at ${origin} cannot be reached (${reasonOf(cause)}); check VALETKEY_URL or --server`);
    this.cause = cause;
  }
}

function describe(status: number, body: unknown): string {
  const { title, detail, code, errors = [], next_action: next, request_id: request } = (body ?? {}) as Partial<Problem>;
  const { error, error_description: description } = (body ?? {}) as { error?: string; error_description?: string };
  if (typeof title !== 'string') {
    const reason = typeof error === 'string' ? shown`: ${description ?? ''} (${error})` : '';
    return `the server returned ${status}${reason}`;
  }
  return [
    shown`${title} (${code ?? 'no code'}, ${status})`,
    ...(detail ? [shown`  ${detail}`] : []),
    ...errors.map(({ field, message }) => shown`  field ${field}: ${message}`),
    ...(next ? [shown`  next: ${next.message} (${next.operation_id})`] : []),
    ...(request ? [shown`  request: ${request}`] : []),
  ].join('\n');
}

function reasonOf(cause: unknown): string {
  const { name, code, cause: inner } = (cause ?? {}) as { name?: string; code?: string; cause?: unknown };
  if (name === 'TimeoutError') return 'no response in time';
  if (inner !== undefined) return reasonOf(inner);
  return code ?? 'no connection';
}
