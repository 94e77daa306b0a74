import { equalTexts } from './equal-texts.ts';
import type { OAuth1Token } from './sign-request.ts';

/**
 * What a callback came to. `mismatch`: it belongs to another authorization and says nothing about this one. `malformed`: it
 * cannot be understood.
 */
export type Callback = { ok: true; verifier: string } | { ok: false; kind: 'refused' | 'mismatch' | 'malformed' };

const MAX_VERIFIER = 1024;

/**
 * Reads a provider's callback (RFC 5849 §2.2) and compares its token with the temporary one of this authorization: the token is what
 * binds the two, so no callback of another flow is taken.
 *
 * @param temporary of the authorization that the browser began
 */
export function readCallback(query: URLSearchParams, temporary: OAuth1Token): Callback {
  const refusal = sole(query, 'denied');
  const token = sole(query, 'oauth_token') ?? refusal;
  if (token === undefined) return { ok: false, kind: 'malformed' };
  if (!equalTexts(token, temporary.token.reveal())) return { ok: false, kind: 'mismatch' };
  if (refusal !== undefined || query.has('oauth_problem') || query.has('error')) return { ok: false, kind: 'refused' };
  const verifier = sole(query, 'oauth_verifier');
  if (verifier === undefined || verifier.length > MAX_VERIFIER) return { ok: false, kind: 'malformed' };
  return { ok: true, verifier };
}

/** A parameter that is repeated or empty has no value. */
function sole(query: URLSearchParams, name: string): string | undefined {
  const [value, ...more] = query.getAll(name);
  return more.length === 0 && value !== '' ? value : undefined;
}
