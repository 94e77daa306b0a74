import { PROBLEM } from './budgets.ts';

/**
 * Every error that the interface answers, by its stable code. docs/errors.md mirrors this table; a test compares both ways.
 * `status` is the HTTP status, `title` the fixed short text of RFC 9457.
 */
export const ERRORS = {
  VALIDATION_FAILED: { status: 400, title: 'The request does not fit the contract' },
  MALFORMED_BODY: { status: 400, title: 'The body cannot be read' },
  INCOMPLETE_ACCOUNT_KEY: { status: 400, title: 'The account is not named completely' },
  UNKNOWN_CONNECTOR: { status: 400, title: 'No such connector' },
  AMBIGUOUS_CONNECTOR: { status: 400, title: 'The connector has several connections' },
  INVALID_AUTHORIZATION_DETAILS: { status: 400, title: 'The authorization details do not fit the connection' },
  INVALID_API_CONFIG: { status: 400, title: 'The API configuration cannot be merged' },
  INVALID_AUTH_PATTERN: { status: 400, title: 'An authentication pattern is not usable' },
  INVALID_PAGE_TOKEN: { status: 400, title: 'The page token is not valid here' },
  INVALID_DOCUMENT: { status: 400, title: 'The document cannot be imported' },
  INVALID_TOOL_INPUT: { status: 400, title: 'The tool input does not fit the tool' },
  INVALID_TOOL: { status: 400, title: 'The tool breaks a rule' },
  PROVIDER_HAS_NO_BASE_URL: { status: 400, title: 'The provider has no address to call' },
  UNSUPPORTED_CONNECTION_TYPE: { status: 400, title: 'The connection type cannot be used here' },
  UNAUTHENTICATED: { status: 401, title: 'A valid access token is required' },
  INSUFFICIENT_SCOPE: { status: 403, title: 'The access token lacks a scope' },
  IDENTIFIER_MISMATCH: { status: 403, title: 'Another user has finished the link' },
  ORIGIN_NOT_ALLOWED: { status: 403, title: 'Pages of this origin may not call here' },
  TOOL_NOT_ALLOWED: { status: 403, title: 'The connection does not allow this tool' },
  NOT_FOUND: { status: 404, title: 'Not found' },
  METHOD_NOT_ALLOWED: { status: 405, title: 'The method is not allowed here' },
  ACCOUNT_EXISTS: { status: 409, title: 'The account exists already' },
  ACCOUNT_NOT_ACTIVE: { status: 409, title: 'The account cannot be used now' },
  CONNECTION_EXISTS: { status: 409, title: 'The connection exists already' },
  CONNECTION_IN_USE: { status: 409, title: 'The connection is in use' },
  CONNECTION_NOT_READY: { status: 409, title: 'The connection lacks settings' },
  CONNECTION_DISABLED: { status: 409, title: 'The connection is disabled' },
  MCP_CONFIG_EXISTS: { status: 409, title: 'The MCP config exists already' },
  SUBJECT_CHANGED: { status: 409, title: 'The provider account belongs to a different user' },
  PROVIDER_IN_USE: { status: 409, title: 'The provider has accounts that depend on this setting' },
  TOOL_EXISTS: { status: 409, title: 'The tool exists already' },
  TOOL_IN_USE: { status: 409, title: 'The tool is in use' },
  TOOL_READ_ONLY: { status: 409, title: 'This tool is read-only: its source manages it' },
  NO_ACTIVE_ACCOUNT: { status: 409, title: 'No account of the provider can be used now' },
  IDEMPOTENCY_KEY_IN_USE: { status: 409, title: 'A request with this idempotency key is still running' },
  IDEMPOTENCY_REPLY_NOT_KEPT: { status: 409, title: 'The response of the first request with this key was not kept' },
  EXECUTION_OUTCOME_UNKNOWN: { status: 409, title: 'The outcome of the execution is not known' },
  BODY_TOO_LARGE: { status: 413, title: 'The body is too large' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, title: 'The media type is not supported' },
  UNKNOWN_HOST: { status: 421, title: 'No environment answers to this host' },
  IDEMPOTENCY_KEY_REUSED: { status: 422, title: 'The idempotency key was used for another request' },
  RATE_LIMITED: { status: 429, title: 'Too many requests' },
  INTERNAL_ERROR: { status: 500, title: 'Internal error' },
  TOOL_FAILED: { status: 502, title: 'The provider refused the call or failed' },
  TOOLS_NOT_LISTED: { status: 502, title: 'The MCP server did not list its tools' },
  SERVER_BUSY: { status: 503, title: 'The server is too busy for this request now' },
  STORAGE_UNAVAILABLE: { status: 503, title: 'The storage cannot take the request now' },
  TOOL_TIMEOUT: { status: 504, title: 'The provider was too slow' },
} as const satisfies Record<string, { status: number; title: string }>;

export type ErrorCode = keyof typeof ERRORS;

/** One offending field: `field` is a dotted path such as `connected_account.api_config`. */
export interface FieldError {
  field: string;
  message: string;
}

export interface ApiErrorOptions {
  errors?: FieldError[];
  /** Further members of the problem document, declared in the contract (`next_action`, `tool_error`, `execution_id`). */
  extra?: Record<string, unknown>;
  /** When the same request may succeed, where that is known. */
  retryAfterMs?: number | undefined;
  cause?: unknown;
  /** The scope that is missing, where it is another one than the operation's. */
  scope?: string;
}

/**
 * An expected failure. `detail` is public; the cause is for logs only. Texts and lists are cut: they may quote what a client sent, and an
 * error must not be larger than its request.
 */
export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly errors: FieldError[] | undefined;
  readonly extra: Record<string, unknown> | undefined;
  readonly scope: string | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(code: ErrorCode, detail: string, options: ApiErrorOptions = {}) {
    super(cut(detail, PROBLEM.detailChars), options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'ApiError';
    this.code = code;
    this.errors = options.errors?.slice(0, PROBLEM.errors).map(bounded);
    this.extra = options.extra;
    this.scope = options.scope;
    this.retryAfterMs = options.retryAfterMs;
  }

  get status(): number {
    return ERRORS[this.code].status;
  }
}

function bounded({ field, message }: FieldError): FieldError {
  return { field: cut(field, PROBLEM.fieldChars), message: cut(message, PROBLEM.messageChars) };
}

function cut(text: string, maxChars: number): string {
  return text.length <= maxChars ? text : `${text.slice(0, maxChars - 1).toWellFormed()}…`;
}
