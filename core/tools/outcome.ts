import type { ErrorPredicate, PredicateKind, ProviderDefinition } from '../connectors/provider.ts';
import { failureTexts } from './failure-texts.ts';
import { atPointer } from './pointer.ts';
import { meansRateLimited, type RateLimitState, readRateLimit } from './rate-limit.ts';
import type { ResponseHeaders } from './response-headers.ts';
import type { Tool } from './tool.ts';

/** Why a call failed. The values are part of the API and stable. */
export const TOOL_ERROR_KINDS = [
  'upstream_bad_request',
  'upstream_auth',
  'upstream_forbidden',
  'upstream_not_found',
  'upstream_conflict',
  'upstream_rate_limited',
  'upstream_server_error',
  'upstream_unreachable',
  'upstream_timeout',
  'upstream_invalid_response',
  'blocked_by_egress_policy',
  'service_busy',
] as const;

export type ToolErrorKind = (typeof TOOL_ERROR_KINDS)[number];

export interface ToolError {
  kind: ToolErrorKind;
  /** Whether the same call may succeed later and cannot have a second effect. */
  retryable: boolean;
  /** Milliseconds to wait before repeating the call, if known, for example because the provider requested it. */
  retryAfterMs?: number;
  /**
   * If the provider issued no token because of a wrong setting: whether the settings of the connection or the data of
   * the account must be changed.
   */
  faultyPart?: 'connection' | 'account';
  /** Set if the token was rejected and could not be refreshed. The grant of the account may still be valid. */
  refreshFailed?: true;
  upstreamStatus?: number;
  /** The body of the provider's response, as JSON or text, reduced to a readable size. */
  upstreamBody?: unknown;
  /** The scopes that the provider requires for this call, if its response names them. */
  requiredScopes?: string[];
  message: string;
}

export type ToolOutcome =
  /** `data` is JSON, or a FileContent that must still be stored; `nextCursor` is undefined on the last page. */
  | { ok: true; data: unknown; nextCursor?: string; truncated?: Truncation; upstreamStatus: number; pages?: PagesRead }
  /** `sent`: whether a request may have been sent, so that the call may have had an effect. */
  | { ok: false; error: ToolError; sent: boolean };

/** The result of reading all pages. */
export interface PagesRead {
  count: number;
  /** Whether the last page was read. */
  complete: boolean;
  /** A sentence for a model or a user. */
  statement: string;
}

/** The parts that were removed from `data` to limit its size. */
export interface Truncation {
  /** A sentence for a model or a user. */
  statement: string;
  cuts: Cut[];
}

export interface Cut {
  /** JSON pointer into `data`. */
  path: string;
  kept: number;
  of: number;
  unit: 'items' | 'members' | 'characters' | 'bytes';
}

/** The provider's rules for reading its responses. */
export interface ReadProvider {
  api: Pick<ProviderDefinition['api'], 'errors' | 'rate_limit'>;
}

/** A response in the format that failure rules use. */
export interface ReceivedResponse {
  status: number;
  headers: ResponseHeaders;
  /** The parsed JSON body; undefined if it is not JSON. */
  json: unknown;
}

const MAX_MESSAGE_LENGTH = 500;

/** The failure in a response, before it becomes a ToolError. */
export interface Failure {
  kind: PredicateKind;
  code?: string;
  message?: string;
  rate: RateLimitState;
}

/**
 * Determines whether a response is a failure, and of which kind: by the tool's predicates, then the connector's, then
 * the HTTP status with the rate-limit headers.
 *
 * @param now milliseconds UTC
 * @returns undefined for a success
 */
export function responseFailure(
  tool: Pick<Tool, 'errors'>,
  provider: ReadProvider,
  answer: ReceivedResponse,
  now: number,
): Failure | undefined {
  const rate = readRateLimit(answer.headers, provider.api.rate_limit, now);
  const byStatus = kindOfStatus(answer.status);
  const limited = meansRateLimited(answer.status, provider.api.rate_limit, rate);
  const isMeant = (candidate: ErrorPredicate) => holds(candidate, answer);
  const predicate = tool.errors?.find(isMeant) ?? provider.api.errors?.find(isMeant);
  if (!predicate) {
    const kind = limited ? 'upstream_rate_limited' : byStatus;
    return kind && { kind, rate, message: usualMessage(answer.json) };
  }
  const code = textAt(answer.json, predicate.code);
  // A code may have a namespace: `com.acme.service#Throttling`.
  const name = code?.replace(/^.*#/, '') ?? '';
  const named = predicate.kinds && Object.hasOwn(predicate.kinds, name) ? predicate.kinds[name] : undefined;
  const fallback = predicate.default === 'status' ? (byStatus ?? 'upstream_bad_request') : predicate.default;
  return {
    kind: named ?? (limited ? 'upstream_rate_limited' : fallback),
    code,
    message: failureTexts(answer.json, [predicate.message ?? []].flat()) ?? code ?? usualMessage(answer.json),
    rate,
  };
}

/** Returns the kind of failure for an HTTP status; undefined for success (RFC 9110 §15). */
export function kindOfStatus(status: number): PredicateKind | undefined {
  if (status >= 200 && status < 300) return undefined;
  // A call follows redirects within its origin. Other redirects are failures, because the credential must not be sent
  // to another origin.
  if (status < 400) return 'upstream_invalid_response';
  if (status >= 500) return 'upstream_server_error';
  switch (status) {
    case 401:
      return 'upstream_auth';
    case 403:
      return 'upstream_forbidden';
    case 404:
    case 410:
      return 'upstream_not_found';
    case 409:
    case 412:
    case 423:
      return 'upstream_conflict';
    case 429:
      return 'upstream_rate_limited';
    default:
      return 'upstream_bad_request';
  }
}

/** Kinds that may be temporary, except `upstream_rate_limited`, which is always retryable. */
const REPEATABLE: readonly ToolErrorKind[] = [
  'upstream_server_error',
  'upstream_unreachable',
  'upstream_timeout',
  'service_busy',
];

/**
 * Whether the same call may be repeated. A call that was rejected with 429 had no effect. Other failed calls may have
 * had an effect, so they may only be repeated if a second effect is impossible.
 *
 * @param repeatable whether the call is idempotent or was not sent
 */
export function isRetryable(kind: ToolErrorKind, repeatable: boolean): boolean {
  if (kind === 'upstream_rate_limited') return true;
  return repeatable && REPEATABLE.includes(kind);
}

/** Returns a sentence about a failure. It includes the provider's message if there is one, except for a redirect. */
export function failureMessage(status: number, failure: Pick<Failure, 'code' | 'message'>): string {
  const words = failure.message && oneLine(failure.message);
  if (status >= 300 && status < 400) return `The provider returned ${status}, a redirect, which is not followed`;
  return words ? `The provider returned ${status}: ${words}` : `The provider returned ${status}`;
}

function holds({ when, statuses }: ErrorPredicate, answer: ReceivedResponse): boolean {
  if (statuses && !statuses.includes(answer.status)) return false;
  if (answer.json === undefined) return false;
  const value = atPointer(answer.json, when.pointer);
  if (when.exists !== undefined) return (value !== undefined && value !== null) === when.exists;
  if (value === undefined) return false;
  return 'equals' in when ? value === when.equals : value !== when.not_equals;
}

function textAt(json: unknown, pointer: string | undefined): string | undefined {
  const value = pointer === undefined ? undefined : atPointer(json, pointer);
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
}

/**
 * The places where APIs usually put an error message, in order of preference. The last one is the whole body, of which
 * the first texts are used.
 */
const USUAL_PLACES = [
  ['/message', '/errors'],
  ['/error/message'],
  ['/error_description'],
  ['/detail'],
  ['/error'],
  ['/errors'],
  ['/title'],
  [''],
];

/** Returns the reason of a failure if the tool does not declare where it is. */
function usualMessage(json: unknown): string | undefined {
  for (const places of USUAL_PLACES) {
    const text = failureTexts(json, places);
    if (text !== undefined) return text;
  }
  return undefined;
}

function oneLine(text: string): string {
  const line = text
    .slice(0, 4 * MAX_MESSAGE_LENGTH)
    .replace(/[\p{C}\s]+/gu, ' ')
    .trim();
  return line.length > MAX_MESSAGE_LENGTH ? `${line.slice(0, MAX_MESSAGE_LENGTH).toWellFormed()}…` : line;
}
