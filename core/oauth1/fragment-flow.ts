import { Secret } from '../secret.ts';
import { equalInConstantTime } from './constant-time.ts';

/**
 * The short consent flow of some providers. The user is redirected to a page of the provider, whose address contains
 * the application's key. The provider returns the token in the fragment of the return address. Browsers do not send
 * fragments to servers, so a page of Valetkey reads the token in the browser and posts it.
 */
export interface FragmentFlow {
  authorizeEndpoint: URL;
  /** The name of the query parameter for the client's key. */
  keyParameter: string;
  /** The name of the query parameter for the return address. */
  returnParameter: string;
  /**
   * Further parameters: scope, name of the application, lifetime of the token, and the request for a token in the
   * fragment.
   */
  authorizeParameters: Readonly<Record<string, string>>;
}

/** The body that the page posts; its values are not validated yet. */
export interface PostedToken {
  token?: unknown;
  state?: unknown;
  /** An error from the fragment, instead of a token. */
  error?: unknown;
}

/**
 * The result of a posted token. `mismatch`: the token belongs to another flow and must not be used. `refused`: the user
 * or the provider denied access. `malformed`: the text is not a token.
 */
export type FragmentOutcome = { ok: true; token: Secret } | { ok: false; kind: 'mismatch' | 'refused' | 'malformed' };

/**
 * Letters, digits, and the punctuation of base64 and of unreserved characters in URLs. None of them ends a header
 * value, a query parameter or a text in HTML.
 */
const TOKEN = /^[\w.~+/=-]{16,2048}$/;

/**
 * Returns the address that the user is redirected to. The state is part of the return address, because the provider
 * returns no other value unchanged.
 *
 * @param returnTo the page that reads the fragment
 * @param state binds the return to the browser and the flow; 256 random bits as text
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
 * Validates a posted token. The token does not show which account and application it belongs to. The caller must
 * therefore send it to the provider with our client key, because the provider rejects tokens of other applications.
 *
 * @param state of the flow that this browser started
 */
export function readPostedToken(posted: PostedToken, state: string): FragmentOutcome {
  if (typeof posted.state !== 'string' || !equalInConstantTime(posted.state, state))
    return { ok: false, kind: 'mismatch' };
  const { token } = posted;
  if (typeof token === 'string' && TOKEN.test(token)) return { ok: true, token: new Secret(token) };
  const isRefusal = typeof posted.error === 'string' && posted.error !== '' && (token === undefined || token === '');
  return { ok: false, kind: isRefusal ? 'refused' : 'malformed' };
}
