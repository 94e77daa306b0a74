import type { EnvironmentRow } from '../../../db/store.ts';
import { ApiError } from '../../errors.ts';

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);
const OURS = ['auth_request_id', 'state'];

/** True for an address that only this machine can reach. */
export function isLoopbackUrl(text: string): boolean {
  return LOOPBACK.has(URL.parse(text)?.hostname ?? '');
}

/**
 * Why an address cannot be one that finished links send users to (threat L5); undefined when it can. It has to be written exactly as
 * a URL parser writes it, so that what an operator reads in the list is what a browser is told.
 */
export function userVerifyUrlProblem(text: string, kind: EnvironmentRow['kind']): string | undefined {
  const url = URL.parse(text);
  if (!url) return 'must be an absolute URL';
  const isLocal = kind === 'DEVELOPMENT' && url.protocol === 'http:' && LOOPBACK.has(url.hostname);
  if (url.protocol !== 'https:' && !isLocal) return 'must be an https URL; in development also http on loopback';
  if (url.username || url.password) return 'must not contain a user name or a password';
  if (text.includes('#')) return 'must not have a fragment';
  if (text.includes('*')) return 'must not contain a wildcard: addresses are compared exactly';
  const taken = OURS.find((name) => url.searchParams.has(name));
  if (taken) return `must not contain ${taken}: the server appends it`;
  if (text !== url.href && `${text}/` !== url.href) return `must be written as ${url.href}`;
  return undefined;
}

/**
 * Accepts an address only if it is exactly an entry of the environment's list.
 *
 * @throws ApiError VALIDATION_FAILED
 */
export function requireListed({ settings, kind }: EnvironmentRow, url: string | undefined): string {
  if (url === undefined) throw refused('is required, because the user who finishes the link must be verified');
  if (!settings.userVerifyUrls?.includes(url)) throw refused("is not listed in the environment's user_verify_urls");
  // The list was checked when it was written; a list that was written otherwise opens nothing.
  const problem = userVerifyUrlProblem(url, kind);
  if (problem) throw refused(problem);
  return url;
}

function refused(message: string): ApiError {
  return new ApiError('VALIDATION_FAILED', 'user_verify_url is invalid.', {
    errors: [{ field: 'user_verify_url', message }],
  });
}

/** Where a finished link sends the user, with what the application needs to verify them. */
export function returnAddress(userVerifyUrl: string, authRequestId: string, state: string | null): string {
  const url = new URL(userVerifyUrl);
  url.searchParams.append('auth_request_id', authRequestId);
  if (state !== null) url.searchParams.append('state', state);
  return url.href;
}
