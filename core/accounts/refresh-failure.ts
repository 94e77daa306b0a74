import { ApiError } from '../errors.ts';
import type { FaultyPart } from '../oauth/config-error.ts';
import type { UnavailableReason } from '../oauth/refresh-outcome.ts';
import type { ToolError, ToolErrorKind } from '../tools/outcome.ts';

/**
 * Why no token could be obtained. `client`: the client, key or settings of the connection are missing or were rejected.
 * `account`: the account's credentials were rejected. `busy`: the wait for a free slot, or for a refresh in another
 * process, took too long.
 */
export type FailureReason = UnavailableReason | 'client' | 'account';

/** A refresh that changed nothing. The message is shown to API clients. */
export interface RefreshFailure {
  reason: FailureReason;
  message: string;
  retryAfterMs?: number;
}

const KINDS: Record<FailureReason, ToolErrorKind> = {
  unreachable: 'upstream_unreachable',
  timeout: 'upstream_timeout',
  rate_limited: 'upstream_rate_limited',
  server_error: 'upstream_server_error',
  invalid_response: 'upstream_invalid_response',
  blocked: 'blocked_by_egress_policy',
  client: 'upstream_auth',
  account: 'upstream_auth',
  busy: 'service_busy',
};

/** Returns the kind of failure that a tool call would report. */
export function kindOf(reason: FailureReason): ToolErrorKind {
  return KINDS[reason];
}

/**
 * What must be changed before another attempt can succeed. Reasons without an entry are temporary, or cannot be
 * corrected here.
 */
const FAULTY_PARTS: Partial<Record<FailureReason, FaultyPart>> = { client: 'connection', account: 'account' };

/** Tells the operator what to correct. */
const ADVICE: Record<FaultyPart, string> = {
  connection: 'Correct the client, the secret or the settings of the connection.',
  account: 'Correct the credentials or the settings of the account.',
};

/** Returns the failure reason for a faulty connection or account. */
export function reasonOf(faultyPart: FaultyPart): FailureReason {
  return faultyPart === 'connection' ? 'client' : 'account';
}

/**
 * Converts a refresh failure to the error of a tool call. The call can be repeated after a temporary failure, because
 * it was not sent, or the provider rejected its token.
 *
 * @param hasOrHadToken false if the account never had a token
 */
export function toToolError({ reason, message, retryAfterMs }: RefreshFailure, hasOrHadToken: boolean): ToolError {
  const faultyPart = FAULTY_PARTS[reason];
  const what = hasOrHadToken
    ? 'The token of the account could not be renewed.'
    : 'No token could be obtained for the account.';
  return {
    kind: kindOf(reason),
    retryable: faultyPart === undefined && reason !== 'blocked',
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(faultyPart && { faultyPart }),
    message: [what, message, ...(faultyPart ? [ADVICE[faultyPart]] : [])].join(' '),
  };
}

/** Whether a change of the account or the connection can resolve the failure immediately. */
export function isCorrectable(reason: FailureReason): boolean {
  return FAULTY_PARTS[reason] !== undefined;
}

/** Returns the API error for an operation that needs the token of an account, if its refresh had to wait too long. */
export function serverBusy({ message, retryAfterMs }: ToolError): ApiError {
  return new ApiError('SERVER_BUSY', message, { retryAfterMs });
}

/** Failures that suggest that the provider receives too many requests. */
const OVERLOAD: ReadonlySet<FailureReason> = new Set(['unreachable', 'timeout', 'rate_limited', 'server_error']);

export function isOverload({ reason }: RefreshFailure): boolean {
  return OVERLOAD.has(reason);
}

export function isFailureReason(text: string | null): text is FailureReason {
  return text !== null && Object.hasOwn(KINDS, text);
}
