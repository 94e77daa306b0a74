import { clientRefused, type TokenFailure, unavailable } from '../oauth/refresh-outcome.ts';

/**
 * Problem codes (of the OAuth problem reporting extension and of common servers) that mean that this authorization has
 * failed. The codes in `CLIENT` mean that the client was rejected. For other codes, the status determines the outcome.
 */
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

/** Which credentials were requested; this determines what a rejection without a problem code means. */
export type Step = 'temporary' | 'token';

/**
 * Returns the outcome of a rejected request (RFC 5849 §3.2: 400 for an unsupported request, 401 for wrong credentials,
 * signature, nonce or time).
 *
 * @param problem the provider's problem code, if there is one
 */
export function outcomeOfRefusal(step: Step, status: number, problem: string | undefined): TokenFailure {
  if (problem !== undefined && REFUSED.has(problem)) return refused(`The provider rejected the request (${problem}).`);
  if (problem !== undefined && CLIENT.has(problem)) return refusedClient(problem);
  if (status !== 400 && status !== 401 && status !== 403) return unusable(`The provider returned ${status}.`);
  // The provider accepted the client in the first step, so it now rejects the temporary credentials or the verifier.
  if (step === 'token') return refused('The provider rejected the temporary credentials or the verifier. Start again.');
  return refusedClient(`status ${status}`);
}

/** Returns the outcome for an authorization that has failed; a new authorization may succeed. */
function refused(message: string): TokenFailure {
  return { ok: false, kind: 'refused', message };
}

/** Returns the outcome for a response without usable content. */
export function unusable(message: string): TokenFailure {
  return unavailable('invalid_response', true, undefined, message);
}

function refusedClient(why: string): TokenFailure {
  return clientRefused(`The provider rejected the client (${why}).`);
}
