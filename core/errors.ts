import { PROBLEM } from './budgets.ts';

/**
 * Every error of the API's problem documents (RFC 9457), by its stable code. `status` is the HTTP status, `title` the
 * fixed short text. docs/errors.md has the same codes in the same order; a test compares the two.
 */
export const ERRORS = {
  VALIDATION_FAILED: { status: 400, title: 'The request does not match the contract' },
  MALFORMED_BODY: { status: 400, title: 'The request body cannot be parsed' },
  INCOMPLETE_ACCOUNT_KEY: { status: 400, title: 'The account is not fully identified' },
  UNKNOWN_CONNECTOR: { status: 400, title: 'Unknown connector' },
  AMBIGUOUS_CONNECTOR: { status: 400, title: 'The connector has several connections' },
  INVALID_AUTHORIZATION_DETAILS: { status: 400, title: 'The authorization details do not match the connection' },
  INVALID_API_CONFIG: { status: 400, title: 'The API configuration is invalid' },
  INVALID_AUTH_PATTERN: { status: 400, title: 'An authentication pattern is invalid' },
  INVALID_PAGE_TOKEN: { status: 400, title: 'The page token is invalid' },
  INVALID_DOCUMENT: { status: 400, title: 'The document cannot be imported' },
  INVALID_TOOL_INPUT: { status: 400, title: 'The tool input does not match the input schema' },
  INVALID_TOOL: { status: 400, title: 'The tool definition is invalid' },
  PROVIDER_HAS_NO_BASE_URL: { status: 400, title: 'The provider has no base URL' },
  UNSUPPORTED_CONNECTION_TYPE: { status: 400, title: 'The connection type is not supported' },
  UNAUTHENTICATED: { status: 401, title: 'A valid access token is required' },
  INSUFFICIENT_SCOPE: { status: 403, title: 'The access token lacks a required scope' },
  IDENTIFIER_MISMATCH: { status: 403, title: 'The link belongs to a different user' },
  ORIGIN_NOT_ALLOWED: { status: 403, title: 'This origin is not allowed' },
  TOOL_NOT_ALLOWED: { status: 403, title: 'The connection does not allow this tool' },
  NOT_FOUND: { status: 404, title: 'Not found' },
  METHOD_NOT_ALLOWED: { status: 405, title: 'Method not allowed' },
  ACCOUNT_EXISTS: { status: 409, title: 'The account already exists' },
  ACCOUNT_NOT_ACTIVE: { status: 409, title: 'The account is not active' },
  CONNECTION_EXISTS: { status: 409, title: 'The connection already exists' },
  CONNECTION_IN_USE: { status: 409, title: 'The connection is in use' },
  CONNECTION_NOT_READY: { status: 409, title: 'The connection is not fully configured' },
  CONNECTION_DISABLED: { status: 409, title: 'The connection is disabled' },
  MCP_CONFIG_EXISTS: { status: 409, title: 'The MCP config already exists' },
  SUBJECT_CHANGED: { status: 409, title: 'The provider account belongs to a different user' },
  PROVIDER_IN_USE: { status: 409, title: 'The provider has accounts that use this setting' },
  TOOL_EXISTS: { status: 409, title: 'The tool already exists' },
  TOOL_IN_USE: { status: 409, title: 'The tool is in use' },
  TOOL_READ_ONLY: { status: 409, title: 'This tool is read-only: its source manages it' },
  NO_ACTIVE_ACCOUNT: { status: 409, title: 'The provider has no active account' },
  JOB_NOT_RETRYABLE: { status: 409, title: 'The job cannot be retried' },
  WEBHOOK_ENDPOINT_DISABLED: { status: 409, title: 'The webhook endpoint is disabled' },
  TOO_MANY_SESSIONS: { status: 409, title: 'The environment has too many operator sessions' },
  WEBHOOK_ENDPOINT_LIMIT: { status: 409, title: 'The environment has too many webhook endpoints' },
  EVENTS_NOT_KEPT: { status: 409, title: 'The environment stores no events' },
  IDEMPOTENCY_KEY_IN_USE: { status: 409, title: 'A request with this idempotency key is still running' },
  IDEMPOTENCY_REPLY_NOT_KEPT: { status: 409, title: 'The response to the first request with this key was not stored' },
  EXECUTION_OUTCOME_UNKNOWN: { status: 409, title: 'The outcome of the execution is unknown' },
  BODY_TOO_LARGE: { status: 413, title: 'The request body is too large' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, title: 'The media type is not supported' },
  UNKNOWN_HOST: { status: 421, title: 'Unknown host' },
  IDEMPOTENCY_KEY_REUSED: { status: 422, title: 'The idempotency key was used for a different request' },
  RATE_LIMITED: { status: 429, title: 'Too many requests' },
  INTERNAL_ERROR: { status: 500, title: 'Internal error' },
  TOOL_FAILED: { status: 502, title: 'The provider rejected the call or failed' },
  TOOLS_NOT_LISTED: { status: 502, title: 'The MCP server did not list its tools' },
  SERVER_BUSY: { status: 503, title: 'The server is too busy' },
  LOGIN_PROVIDER_UNAVAILABLE: { status: 503, title: 'The login provider cannot be reached' },
  STORAGE_UNAVAILABLE: { status: 503, title: 'The database is unavailable' },
  TOOL_TIMEOUT: { status: 504, title: 'The provider did not respond in time' },
} as const satisfies Record<string, { status: number; title: string }>;

export type ErrorCode = keyof typeof ERRORS;

/** An invalid field: `field` is a dotted path such as `connected_account.api_config`. */
export interface FieldError {
  field: string;
  message: string;
}

/** Why a request was not authenticated, or lacks a scope. It is only logged; the response does not contain it. */
export interface AuthFailure {
  reason: string;
  /** The id of an existing client. Any other text that a caller sent is not logged, because it may be a secret. */
  clientId?: string;
}

export interface ApiErrorOptions {
  errors?: FieldError[];
  /**
   * Further members of the problem document, declared in the contract (`next_action`, `tool_error`, `execution_id`).
   */
  extra?: Record<string, unknown>;
  /** Milliseconds to wait before the same request may succeed, if known; null if the client must not repeat it. */
  retryAfterMs?: number | null | undefined;
  cause?: unknown;
  /** The scope that the access token lacks. */
  scope?: string;
  authFailure?: AuthFailure;
}

/**
 * An expected failure. The message (`detail`) is part of the response; `cause` is not. `detail` and `errors` are
 * truncated, because they may quote the request.
 */
export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly errors: FieldError[] | undefined;
  readonly extra: Record<string, unknown> | undefined;
  readonly scope: string | undefined;
  readonly authFailure: AuthFailure | undefined;
  readonly retryAfterMs: number | null | undefined;

  constructor(code: ErrorCode, detail: string, options: ApiErrorOptions = {}) {
    super(cut(detail, PROBLEM.detailChars), options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'ApiError';
    this.code = code;
    this.errors = options.errors?.slice(0, PROBLEM.errors).map(bounded);
    this.extra = options.extra;
    this.scope = options.scope;
    this.authFailure = options.authFailure;
    this.retryAfterMs = options.retryAfterMs;
  }

  get status(): number {
    return ERRORS[this.code].status;
  }
}

/**
 * Returns the result of a lookup.
 *
 * @param name what was looked up, as the subject of a sentence: `The connection`
 * @throws ApiError NOT_FOUND if the lookup returned nothing
 */
export function requireFound<T>(found: T | undefined, name: string): T {
  if (found === undefined) throw new ApiError('NOT_FOUND', `${name} does not exist.`);
  return found;
}

function bounded({ field, message }: FieldError): FieldError {
  return { field: cut(field, PROBLEM.fieldChars), message: cut(message, PROBLEM.messageChars) };
}

function cut(text: string, maxChars: number): string {
  return text.length <= maxChars ? text : `${text.slice(0, maxChars - 1).toWellFormed()}…`;
}
