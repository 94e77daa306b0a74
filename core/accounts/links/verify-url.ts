import type { EnvironmentRow } from '../../../db/store.ts';
import { ApiError } from '../../errors.ts';

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);
/** The query parameters that the server adds to the address of the application after a finished link. */
const APPENDED_PARAMETERS = ['auth_request_id', 'state'];

/** Whether an address can be reached only from this machine. */
export function isLoopbackUrl(text: string): boolean {
  return LOOPBACK.has(URL.parse(text)?.hostname ?? '');
}

/** Returns why users cannot be redirected to an address after a finished link (threat L5); undefined if they can. */
export function userVerifyUrlProblem(text: string, kind: EnvironmentRow['kind']): string | undefined {
  return applicationUrlProblem(text, kind, APPENDED_PARAMETERS);
}

/**
 * Returns why users cannot be redirected to an address of the application; undefined if they can. The address must be
 * in the normalized form of a URL parser, so that the browser opens exactly what an operator reads in the settings.
 *
 * @param appended the query parameters that the server appends
 */
export function applicationUrlProblem(
  text: string,
  kind: EnvironmentRow['kind'],
  appended: readonly string[],
): string | undefined {
  const url = URL.parse(text);
  if (!url) return 'must be an absolute URL';
  const isLocal = kind === 'DEVELOPMENT' && url.protocol === 'http:' && LOOPBACK.has(url.hostname);
  if (url.protocol !== 'https:' && !isLocal) return 'must be an https URL; in development also http on loopback';
  if (url.username || url.password) return 'must not contain a user name or a password';
  if (text.includes('#')) return 'must not have a fragment';
  if (text.includes('*')) return 'must not contain a wildcard: addresses are compared exactly';
  const taken = appended.find((name) => url.searchParams.has(name));
  if (taken) return `must not contain ${taken}: the server appends it`;
  if (text !== url.href && `${text}/` !== url.href) return `must be written as ${url.href}`;
  return undefined;
}

/**
 * Returns an address if it is exactly an entry of the environment's `user_verify_urls`.
 *
 * @throws ApiError VALIDATION_FAILED if it is not, or if the address is missing
 */
export function requireListed({ settings, kind }: EnvironmentRow, url: string | undefined): string {
  if (url === undefined) throw refused('is required, because the user who finishes the link must be verified');
  if (!settings.userVerifyUrls?.includes(url)) throw refused("is not listed in the environment's user_verify_urls");
  // The list is checked when it is written. This check also rejects entries that were written by other means.
  const problem = userVerifyUrlProblem(url, kind);
  if (problem) throw refused(problem);
  return url;
}

function refused(message: string): ApiError {
  return new ApiError('VALIDATION_FAILED', 'user_verify_url is invalid.', {
    errors: [{ field: 'user_verify_url', message }],
  });
}

/**
 * Returns the address that a finished link redirects the user to, including what the application needs to verify the
 * user.
 */
export function returnAddress(userVerifyUrl: string, authRequestId: string, state: string | null): string {
  const url = new URL(userVerifyUrl);
  url.searchParams.append('auth_request_id', authRequestId);
  if (state !== null) url.searchParams.append('state', state);
  return url.href;
}
