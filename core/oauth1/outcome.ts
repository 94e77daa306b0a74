import { clientRefused, type TokenFailure, unavailable } from '../oauth/refresh-outcome.ts';

/** Words of the problem reporting extension, and of common servers. Any other word says nothing. */
const REFUSED: ReadonlySet<string> = new Set([
  'additional_authorization_required',
  'permission_denied',
  'permission_unknown',
  'token_expired',
  'token_rejected',
  'token_revoked',
  'token_used',
  'user_refused',
  'verifier_invalid',
]);

const CLIENT: ReadonlySet<string> = new Set([
  'consumer_key_refused',
  'consumer_key_rejected',
  'consumer_key_unknown',
  'nonce_used',
  'parameter_absent',
  'parameter_rejected',
  'signature_invalid',
  'signature_method_rejected',
  'timestamp_refused',
  'version_rejected',
]);

/** Which credentials a request was for: that decides what a bare refusal means. */
export type Step = 'temporary' | 'token';

/**
 * Judges a refusal (RFC 5849 §3.2: 400 for a request that is not understood, 401 for credentials, signature, nonce or time).
 *
 * @param problem the provider's own word for it, if it gave one
 */
export function outcomeOfRefusal(step: Step, status: number, problem: string | undefined): TokenFailure {
  if (problem !== undefined && REFUSED.has(problem)) return refused(`The provider rejected the request (${problem}).`);
  if (problem !== undefined && CLIENT.has(problem)) return refusedClient(problem);
  if (status !== 400 && status !== 401 && status !== 403) return unusable(`The provider returned ${status}.`);
  // The client was good enough for temporary credentials a moment ago, so it is these or the verifier that are refused.
  if (step === 'token') return refused('The provider no longer accepts this authorization.');
  return refusedClient(`status ${status}`);
}

/** This authorization has come to nothing; a new one may succeed. */
function refused(message: string): TokenFailure {
  return { ok: false, kind: 'refused', message };
}

/** The provider responded, but with nothing usable. */
export function unusable(message: string): TokenFailure {
  return unavailable('invalid_response', true, undefined, message);
}

function refusedClient(why: string): TokenFailure {
  return clientRefused(`The provider rejected the client (${why}).`);
}
