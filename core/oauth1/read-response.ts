import { Secret } from '../secret.ts';
import type { OAuth1Token } from './sign-request.ts';

/** The content of a credentials response. */
export interface CredentialsResponse {
  token: OAuth1Token | undefined;
  /** The provider's problem code (problem reporting extension). */
  problem: string | undefined;
  /** All other values by name: `oauth_callback_confirmed`, and values that providers add. */
  others: Readonly<Record<string, string>>;
}

/** The maximum length, in characters. A response is one line; a longer one is usually an HTML page. */
const MAX_BODY = 64 * 1024;
const MAX_TOKEN = 4096;
const PROBLEM = /^[a-z_]{1,64}$/;

/**
 * Parses a credentials response (RFC 5849 §2.1, §2.3): a form, regardless of its content type. Repeated parameters are
 * ignored, because they are ambiguous.
 *
 * @returns undefined if the body is not a form or is too long, and the WWW-Authenticate header has no problem code
 */
export async function readCredentialsResponse(response: Response): Promise<CredentialsResponse | undefined> {
  const text = (await response.text()).trim();
  const inHeader = problemOf(response.headers.get('www-authenticate') ?? '');
  if (text.length > MAX_BODY || !/^\w{1,64}=/.test(text)) {
    return inHeader === undefined ? undefined : { token: undefined, problem: inHeader, others: {} };
  }
  const { oauth_token, oauth_token_secret, oauth_problem, ...others } = uniquePairs(new URLSearchParams(text));
  const problem = oauth_problem !== undefined && PROBLEM.test(oauth_problem) ? oauth_problem : inHeader;
  return { token: tokenOf(oauth_token, oauth_token_secret), problem, others };
}

function uniquePairs(form: URLSearchParams): Record<string, string> {
  const counts = new Map<string, number>();
  for (const name of form.keys()) counts.set(name, (counts.get(name) ?? 0) + 1);
  return Object.fromEntries([...form].filter(([name]) => counts.get(name) === 1));
}

/**
 * Returns the token. Its secret may be empty (RFC 5849 §2.1 requires the parameter, not a value), but the token itself
 * may not.
 */
function tokenOf(token: string | undefined, secret: string | undefined): OAuth1Token | undefined {
  if (token === undefined || token === '' || secret === undefined) return undefined;
  if (token.length > MAX_TOKEN || secret.length > MAX_TOKEN) return undefined;
  return { token: new Secret(token), secret: new Secret(secret) };
}

function problemOf(challenge: string): string | undefined {
  return /(?:^|[\s,])oauth_problem="?([a-z_]{1,64})"?/.exec(challenge)?.[1];
}
