import type { EnvironmentRow } from '../../db/store.ts';
import { applicationUrlProblem } from '../accounts/links/verify-url.ts';
import { ApiError } from '../errors.ts';

/**
 * Checks the address that the portal links back to. The address must belong to the application: its origin must be the
 * origin of one of the environment's `user_verify_urls`.
 *
 * @throws ApiError VALIDATION_FAILED
 */
export function requireReturnUrl({ settings, kind }: EnvironmentRow, url: string): string {
  const problem = applicationUrlProblem(url, kind, []);
  if (problem) throw refused(problem);
  const { origin } = new URL(url);
  const isKnown = settings.userVerifyUrls?.some((listed) => URL.parse(listed)?.origin === origin);
  if (!isKnown) {
    const listed = settings.userVerifyUrls?.join(', ') || 'none';
    throw refused(`must have the same origin as one of the environment's user_verify_urls (${listed})`);
  }
  return url;
}

function refused(message: string): ApiError {
  return new ApiError('VALIDATION_FAILED', 'return_url is invalid.', { errors: [{ field: 'return_url', message }] });
}
