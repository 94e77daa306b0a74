import { createHash, timingSafeEqual } from 'node:crypto';
import { validateAuthResponse } from 'oauth4webapi';
import type { KeptAuthorization } from './authorization-request.ts';
import type { AuthorizationEndpoint } from './authorization-server.ts';

/**
 * Why a callback contains no usable code. The message for API clients is fixed; no text of the callback is repeated
 * (threat L13).
 */
export interface CallbackFailure {
  ok: false;
  kind: 'state_mismatch' | 'issuer_mismatch' | 'denied' | 'provider_error' | 'no_code';
  message: string;
}

export type CallbackReading =
  /** `response`: the validated response in the format of the OAuth library. */
  { ok: true; response: URLSearchParams } | CallbackFailure;

/** Error codes that mean that the user or a policy of the provider denied access. */
const DENIED: ReadonlySet<string> = new Set([
  'access_denied',
  'user_cancelled_authorize',
  'user_cancelled_login',
  'user_denied',
]);

/** Messages for the error codes of an authorization endpoint (RFC 6749 §4.1.2.1, OpenID Connect Core §3.1.2.6). */
const ERRORS: Readonly<Record<string, string>> = {
  invalid_request: 'The provider rejected the request as incomplete or invalid.',
  unauthorized_client: 'The provider does not allow this client to request access.',
  unsupported_response_type: 'The provider does not issue authorization codes to this client.',
  invalid_scope: 'The provider rejected a requested scope.',
  invalid_target: 'The provider does not give access to the requested resource.',
  server_error: 'The provider reported a server error.',
  temporarily_unavailable: 'The provider is temporarily unavailable.',
  consent_required: 'The provider requires consent of the user.',
  interaction_required: 'The provider requires user interaction.',
  login_required: 'The provider requires the user to sign in.',
};

/**
 * Validates the parameters of a callback: first the state, then the issuer, then the result (RFC 6749 §4.1.2, RFC 9207
 * §2.4).
 *
 * @param parameters of the callback; only `code`, `state`, `iss` and `error` are used
 */
export function readCallback(
  parameters: URLSearchParams,
  kept: KeptAuthorization,
  { callbackNames }: Pick<AuthorizationEndpoint, 'callbackNames'>,
): CallbackReading {
  const own = (name: string) => parameters.getAll(callbackNames[name] ?? name);
  const [state, ...moreStates] = own('state');
  if (state === undefined || moreStates.length > 0 || !equal(state, kept.state)) {
    return failed('state_mismatch', "The provider's response does not belong to this request. Start again.");
  }
  const [issuer, ...moreIssuers] = parameters.getAll('iss');
  const isOther = kept.issuer !== null && issuer !== undefined && issuer !== kept.issuer;
  if (isOther || moreIssuers.length > 0 || (issuer === undefined && kept.issuerIsSent)) {
    return failed(
      'issuer_mismatch',
      'The response does not name the authorization server of the request (iss), or names several. Start again.',
    );
  }
  const [error] = parameters.getAll('error');
  if (error !== undefined && DENIED.has(error))
    return failed('denied', 'The user or a policy of the provider denied access.');
  if (error !== undefined) {
    const known = Object.hasOwn(ERRORS, error) ? ERRORS[error] : undefined;
    return failed('provider_error', known ?? 'The provider returned an unknown error.');
  }
  const [code, ...moreCodes] = own('code');
  if (!code || moreCodes.length > 0) return failed('no_code', 'The provider sent no authorization code, or several.');
  const response = new URLSearchParams({ state, code });
  return {
    ok: true,
    response: validateAuthResponse(
      { issuer: kept.issuer ?? kept.tokenEndpoint },
      { client_id: kept.clientId },
      response,
      kept.state,
    ),
  };
}

function equal(given: string, expected: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}

function failed(kind: CallbackFailure['kind'], message: string): CallbackFailure {
  return { ok: false, kind, message };
}
