import type { UpstreamResponse } from '../tools/execute.ts';
import type { ToolErrorKind } from '../tools/outcome.ts';
import { isRecord } from '../tools/pointer.ts';

/** Why the warehouse did not do what it was asked; the kinds are those of a tool's failure. */
export interface WarehouseFailure {
  ok: false;
  kind: ToolErrorKind;
  /** The warehouse's own code; null where it gave none. */
  code: string | null;
  /** In the warehouse's words where it has some. */
  message: string;
}

/** `upstream_auth`: with new temporary credentials, or the right time, the same call can succeed. */
const KINDS: Readonly<Record<string, ToolErrorKind>> = {
  AccessDenied: 'upstream_forbidden',
  ActiveSessionsExceeded: 'upstream_rate_limited',
  ActiveStatementsExceeded: 'upstream_rate_limited',
  ExecuteStatement: 'upstream_server_error',
  ExpiredToken: 'upstream_auth',
  IncompleteSignature: 'upstream_auth',
  InternalServer: 'upstream_server_error',
  InvalidClientTokenId: 'upstream_auth',
  InvalidSignature: 'upstream_auth',
  MissingAuthenticationToken: 'upstream_auth',
  RequestExpired: 'upstream_auth',
  RequestLimitExceeded: 'upstream_rate_limited',
  RequestTimeTooSkewed: 'upstream_auth',
  ResourceNotFound: 'upstream_not_found',
  SignatureDoesNotMatch: 'upstream_auth',
  Throttling: 'upstream_rate_limited',
  TooManyRequests: 'upstream_rate_limited',
  UnrecognizedClient: 'upstream_auth',
  Validation: 'upstream_bad_request',
};

const BY_STATUS: Readonly<Record<number, ToolErrorKind>> = {
  400: 'upstream_bad_request',
  401: 'upstream_auth',
  403: 'upstream_forbidden',
  404: 'upstream_not_found',
  409: 'upstream_conflict',
  429: 'upstream_rate_limited',
};

const MAX_MESSAGE_LENGTH = 500;

/**
 * Judges an answer that is no success. The code says more than the status: expired credentials and a wrong statement are both 400.
 *
 * @param body the answer's JSON; anything else where it has none
 */
export function judgeFailure({ status, headers }: UpstreamResponse, body: unknown): WarehouseFailure {
  const code = codeIn(headers, body);
  const name = code?.replace(/(?:Exception|Error)$/, '') ?? '';
  const known = Object.hasOwn(KINDS, name) ? KINDS[name] : BY_STATUS[status];
  const kind = known ?? (status >= 500 ? 'upstream_server_error' : 'upstream_invalid_response');
  const words = isRecord(body) ? (body['message'] ?? body['Message']) : undefined;
  const message = typeof words === 'string' && words !== '' ? words : `The warehouse answered ${status}.`;
  return { ok: false, kind, code, message: message.slice(0, MAX_MESSAGE_LENGTH) };
}

/** `Prefix#CodeException` in the body, `CodeException:address` in a header, or the bare code. */
function codeIn(headers: UpstreamResponse['headers'], body: unknown): string | null {
  const written = isRecord(body) && typeof body['__type'] === 'string' ? body['__type'] : headers['x-amzn-errortype'];
  const code = typeof written === 'string' ? written.replace(/^.*#/, '').replace(/:.*$/, '') : '';
  return /^[A-Za-z]{1,64}$/.test(code) ? code : null;
}
