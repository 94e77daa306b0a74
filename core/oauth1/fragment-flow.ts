import { Secret } from '../secret.ts';
import { equalTexts } from './equal-texts.ts';

/**
 * The short flow of board applications: the person is sent to a page with the application's key, and the token comes back in the
 * fragment of the return address. A fragment never reaches a server, so a page of ours reads it and posts it.
 */
export interface FragmentFlow {
  authorizeEndpoint: URL;
  /** The name of the parameter that carries the client's key. */
  keyParameter: string;
  /** The name of the parameter that carries the return address. */
  returnParameter: string;
  /** Sent as they are: scope, name of the application, life of the token, and what asks for a token in the fragment. */
  authorizeParameters: Readonly<Record<string, string>>;
}

/** What our page posts; each is the caller's text and may be anything. */
export interface PostedToken {
  token?: unknown;
  state?: unknown;
  /** The content of the fragment instead of a token. */
  error?: unknown;
}

/**
 * The result of a posted token. `mismatch`: it belongs to another flow and must not be used. `refused`: the user or the
 * application denied access. `malformed`: the text is not a token.
 */
export type FragmentOutcome = { ok: true; token: Secret } | { ok: false; kind: 'mismatch' | 'refused' | 'malformed' };

/** Letters, digits and the marks of base64 and of URLs: nothing that could leave its place in a header, a query or a page. */
const TOKEN = /^[\w.~+/=-]{16,2048}$/;

/**
 * Where to send the person. The state goes into the return address: that is all that comes back unchanged.
 *
 * @param returnTo the page that reads the fragment
 * @param state binds the return to the browser and the flow; 256 random bits in text
 */
export function fragmentAuthorizationUrl(flow: FragmentFlow, clientKey: string, returnTo: URL, state: string): URL {
  const back = new URL(returnTo);
  back.searchParams.set('state', state);
  const url = new URL(flow.authorizeEndpoint);
  for (const [name, value] of Object.entries(flow.authorizeParameters)) url.searchParams.set(name, value);
  url.searchParams.set(flow.keyParameter, clientKey);
  url.searchParams.set(flow.returnParameter, back.href);
  return url;
}

/**
 * Judges what our page posted. A token proves nothing by being posted: who holds it is asked at the provider, with our own key, and
 * a token that was made for another application fails there.
 *
 * @param state of the flow that this browser began
 */
export function readPostedToken(posted: PostedToken, state: string): FragmentOutcome {
  if (typeof posted.state !== 'string' || !equalTexts(posted.state, state)) return { ok: false, kind: 'mismatch' };
  const { token } = posted;
  if (typeof token === 'string' && TOKEN.test(token)) return { ok: true, token: new Secret(token) };
  const saysNo = typeof posted.error === 'string' && posted.error !== '' && (token === undefined || token === '');
  return { ok: false, kind: saysNo ? 'refused' : 'malformed' };
}
