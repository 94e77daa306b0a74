import { ApiError } from '../errors.ts';
import type { UnavailableReason } from '../oauth/refresh-outcome.ts';
import type { ToolError, ToolErrorKind } from '../tools/outcome.ts';

/** Why a token could not be renewed for now. `client`: the connection is not set up for it. `busy`: it had to wait for too long. */
export type FailureReason = UnavailableReason | 'client';

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
  busy: 'service_busy',
};

/** Reasons that only a change of the configuration mends. */
const LASTING: ReadonlySet<FailureReason> = new Set(['blocked', 'client']);

/** What a call that needs the token answers: nothing of it has left, so it may be tried again. */
export function toToolError({ reason, message, retryAfterMs }: RefreshFailure): ToolError {
  return {
    kind: KINDS[reason],
    retryable: !LASTING.has(reason),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    message: `The token of the account has expired and could not be renewed. ${message}`,
  };
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
