import { ApiError } from '../errors.ts';
import type { Culprit } from '../oauth/config-error.ts';
import type { UnavailableReason } from '../oauth/refresh-outcome.ts';
import type { ToolError, ToolErrorKind } from '../tools/outcome.ts';

/**
 * Why a token could not be had for now. `client`: the client, key or settings of the connection are missing or refused. `account`:
 * what the account was given is. `busy`: it had to wait for too long.
 */
export type FailureReason = UnavailableReason | 'client' | 'account';

/** A refresh that changed nothing. The message is a public sentence. */
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

/** What has to be changed before another attempt can succeed. */
const CULPRITS: Partial<Record<FailureReason, Culprit>> = { client: 'connection', account: 'account' };

/** Which of the two was refused, as a sentence. */
const ADVICE: Record<Culprit, string> = {
  connection: 'Correct the client, the secret or the settings of the connection.',
  account: 'Correct the credentials or the settings of the account.',
};

/** The reason for a refusal that is not an outage. */
export function reasonOf(culprit: Culprit): FailureReason {
  return culprit === 'connection' ? 'client' : 'account';
}

/**
 * The failure of a call that needs a token: nothing of it has left, so it may be tried again.
 *
 * @param hadToken false for an account for which none was ever obtained
 */
export function toToolError({ reason, message, retryAfterMs }: RefreshFailure, hadToken: boolean): ToolError {
  const culprit = CULPRITS[reason];
  const what = hadToken
    ? 'The token of the account could not be renewed.'
    : 'No token could be obtained for the account.';
  return {
    kind: KINDS[reason],
    retryable: culprit === undefined && reason !== 'blocked',
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(culprit && { culprit }),
    message: [what, message, ...(culprit ? [ADVICE[culprit]] : [])].join(' '),
  };
}

/** Whether a change of the account or the connection can help immediately. */
export function isCorrectable(reason: FailureReason): boolean {
  return CULPRITS[reason] !== undefined;
}

/** The error of an operation that cannot do without the token. */
export function serverBusy({ message, retryAfterMs }: ToolError): ApiError {
  return new ApiError('SERVER_BUSY', message, { retryAfterMs });
}

/** The provider takes fewer requests than it is given. */
const STRAIN: ReadonlySet<FailureReason> = new Set(['unreachable', 'timeout', 'rate_limited', 'server_error']);

export function isStrain({ reason }: RefreshFailure): boolean {
  return STRAIN.has(reason);
}

export function isFailureReason(text: string | null): text is FailureReason {
  return text !== null && Object.hasOwn(KINDS, text);
}
