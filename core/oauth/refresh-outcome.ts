import type { Secret } from '../secret.ts';
import type { FaultyPart } from './config-error.ts';
import type { TokenSet } from './token-response.ts';
import type { TransportFailure } from './transport.ts';

export type UnavailableReason =
  | 'unreachable'
  | 'timeout'
  | 'rate_limited'
  | 'server_error'
  | 'invalid_response'
  | 'blocked'
  | 'busy';

/**
 * The outcome of a token request. Messages are shown to API clients. `refused`: the grant has ended, and only a new
 * authorization helps. `client`: the client of the connection or the account's values are incomplete, or the provider
 * rejected them; the grant may still be valid. `unavailable`: the request does not show whether the grant is still
 * valid.
 */
export type TokenOutcome =
  /** `answer`: the whole response as JSON, which contains further details of the account. */
  { ok: true; tokens: TokenSet; answer: Secret } | TokenFailure;

export type TokenFailure =
  | { ok: false; kind: 'refused'; message: string }
  | { ok: false; kind: 'client'; faultyPart: FaultyPart; message: string }
  | {
      ok: false;
      kind: 'unavailable';
      reason: UnavailableReason;
      /** Whether the provider may have processed the request: a single-use refresh token may be used up. */
      mayBeSpent: boolean;
      retryAfterMs?: number;
      message: string;
    };

export type RefreshOutcome = TokenOutcome;

/** `invalid_grant` (RFC 6749 §5.2), further codes of OpenID Connect, and vendors' codes with the same meaning. */
const REFUSED: ReadonlySet<string> = new Set([
  'invalid_grant',
  'access_denied',
  'account_selection_required',
  'consent_required',
  'interaction_required',
  'login_required',
  'bad_refresh_token',
  'bad_verification_code',
  'code_already_used',
  'code_expired',
  'expired_token',
  'invalid_code',
  'invalid_refresh_token',
  'invalid_token',
  'refresh_token_expired',
  'token_expired',
  'token_revoked',
]);

const CLIENT: ReadonlySet<string> = new Set([
  'invalid_client',
  'invalid_request',
  'invalid_scope',
  'invalid_target',
  'unauthorized_client',
  'unsupported_grant_type',
  'bad_client_id',
  'bad_client_secret',
  'bad_redirect_uri',
  'incorrect_client_credentials',
  'invalid_client_id',
  'invalid_client_secret',
  'redirect_uri_mismatch',
]);

const RATE_LIMITED: ReadonlySet<string> = new Set(['rate_limited', 'ratelimited', 'slow_down', 'too_many_requests']);
const SERVER_ERROR: ReadonlySet<string> = new Set([
  'fatal_error',
  'internal_error',
  'request_timeout',
  'server_error',
  'service_unavailable',
  'temporarily_unavailable',
]);

/** Returns the outcome for an error code of a token endpoint. After an unknown code, the grant may still be valid. */
export function outcomeOfCode(code: string, retryAfterMs?: number): TokenFailure {
  if (REFUSED.has(code)) {
    return { ok: false, kind: 'refused', message: `The provider no longer accepts the refresh token (${code}).` };
  }
  if (CLIENT.has(code)) {
    return clientRefused(`The provider rejected the client (${code}).`);
  }
  if (RATE_LIMITED.has(code)) return unavailable('rate_limited', false, retryAfterMs);
  if (SERVER_ERROR.has(code)) return unavailable('server_error', true, retryAfterMs);
  return unavailable('invalid_response', false, retryAfterMs, 'The provider returned an unknown error.');
}

/**
 * Returns the outcome `client`: the client, its key, its permissions or the account's values are wrong or were
 * rejected.
 */
export function clientRefused(
  message: string,
  faultyPart: FaultyPart = 'connection',
): TokenFailure & { kind: 'client' } {
  return { ok: false, kind: 'client', faultyPart, message };
}

const REASONS: Record<TransportFailure['kind'], UnavailableReason> = {
  blocked: 'blocked',
  unreachable: 'unreachable',
  tls: 'unreachable',
  aborted: 'unreachable',
  timeout: 'timeout',
  too_large: 'invalid_response',
  invalid_response: 'invalid_response',
  busy: 'busy',
};

export function reasonOf({ kind }: TransportFailure): UnavailableReason {
  return REASONS[kind];
}

export function outcomeOfFailure(failure: TransportFailure): TokenFailure {
  const message = `The token endpoint returned no usable response: ${failure.message}`;
  return unavailable(reasonOf(failure), failure.sent, failure.retryAfterMs, message);
}

const SENTENCES: Record<UnavailableReason, string> = {
  unreachable: 'The token endpoint cannot be reached.',
  timeout: 'The token endpoint did not respond in time.',
  rate_limited: "The token endpoint's rate limit is exceeded.",
  server_error: 'The token endpoint returned a server error.',
  invalid_response: 'The response of the token endpoint cannot be parsed.',
  blocked: 'The egress policy does not allow the token endpoint.',
  busy: 'The server is too busy to call the token endpoint.',
};

export function unavailable(
  reason: UnavailableReason,
  mayBeSpent: boolean,
  retryAfterMs?: number,
  message: string = SENTENCES[reason],
): TokenFailure {
  const wait = retryAfterMs === undefined ? {} : { retryAfterMs };
  return { ok: false, kind: 'unavailable', reason, mayBeSpent, ...wait, message };
}
