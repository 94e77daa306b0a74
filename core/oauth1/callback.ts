import { equalInConstantTime } from './constant-time.ts';
import type { OAuth1Token } from './sign-request.ts';

/**
 * The result of a callback. `refused`: the user or the provider denied access. `mismatch`: the callback belongs to
 * another authorization. `malformed`: a parameter is missing, repeated or too long.
 */
export type Callback = { ok: true; verifier: string } | { ok: false; kind: 'refused' | 'mismatch' | 'malformed' };

const MAX_VERIFIER = 1024;

/**
 * Reads a provider's callback (RFC 5849 §2.2). Its token must be the temporary token of this authorization, so that a
 * callback of another flow is rejected.
 *
 * @param temporary the temporary credentials of the authorization that this browser started
 */
export function readCallback(query: URLSearchParams, temporary: OAuth1Token): Callback {
  const refusal = sole(query, 'denied');
  const token = sole(query, 'oauth_token') ?? refusal;
  if (token === undefined) return { ok: false, kind: 'malformed' };
  if (!equalInConstantTime(token, temporary.token.reveal())) return { ok: false, kind: 'mismatch' };
  if (refusal !== undefined || query.has('oauth_problem') || query.has('error')) return { ok: false, kind: 'refused' };
  const verifier = sole(query, 'oauth_verifier');
  if (verifier === undefined || verifier.length > MAX_VERIFIER) return { ok: false, kind: 'malformed' };
  return { ok: true, verifier };
}

/** Returns the value of a parameter; undefined if it is missing, repeated or empty. */
function sole(query: URLSearchParams, name: string): string | undefined {
  const [value, ...more] = query.getAll(name);
  return more.length === 0 && value !== '' ? value : undefined;
}
