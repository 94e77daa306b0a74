import type { AuthRequestRow, EnvironmentRow } from '../../../db/store.ts';
import type { Cause } from '../../events/events.ts';
import { endRequest } from './end-request.ts';
import type { LinkDeps } from './link-deps.ts';
import { PROVIDER_VERIFICATION } from './verification.ts';

/**
 * Why a link ended without a connected account, as error codes of OAuth: `access_denied`, `server_error`,
 * `temporarily_unavailable` (RFC 6749 §4.1.2.1) and `expired_token` (RFC 8628 §3.5).
 */
export type LinkError = 'access_denied' | 'server_error' | 'temporarily_unavailable' | 'expired_token';

const DESCRIPTIONS: Record<LinkError, string> = {
  access_denied: 'The user or the provider did not allow access.',
  server_error: 'The provider did not complete the authorization.',
  temporarily_unavailable: 'The provider could not be reached.',
  expired_token: 'The link has expired.',
};

const WENT_BACK = 'The user went back to the application without connecting the account.';

/**
 * Returns the address at which the application learns that a link ended without a connected account. It is the
 * `user_verify_url` of the link, with the error and the application's `state` in its query. The address needs no check
 * here: when the link was created, it was in the environment's `user_verify_urls`.
 *
 * @returns undefined if the link has no such address, because no application verifies its user
 */
export function errorAddress(
  { userVerifyUrl, callerState }: Pick<AuthRequestRow, 'userVerifyUrl' | 'callerState'>,
  error: LinkError,
): string | undefined {
  if (userVerifyUrl === null || userVerifyUrl === PROVIDER_VERIFICATION) return undefined;
  const url = new URL(userVerifyUrl);
  url.searchParams.set('error', error);
  url.searchParams.set('error_description', DESCRIPTIONS[error]);
  if (callerState !== null) url.searchParams.append('state', callerState);
  return url.href;
}

/** The sentence that `error_description` contains. */
export function errorDescription(error: LinkError): string {
  return DESCRIPTIONS[error];
}

/**
 * Returns the origin of the application that a link belongs to, which is used as the application's start page;
 * undefined if the link does not lead back to an application.
 */
export function applicationOrigin({ userVerifyUrl }: Pick<AuthRequestRow, 'userVerifyUrl'>): string | undefined {
  const hasNone = userVerifyUrl === null || userVerifyUrl === PROVIDER_VERIFICATION;
  return hasNone ? undefined : new URL(userVerifyUrl).origin;
}

/**
 * Ends an open link, because its user goes back to the application without an account.
 *
 * @returns the request of the link, with the reason in `error`; undefined if the link is not open any more, for example
 * because a user has finished it in the meantime
 */
export function returnWithoutAccount(
  deps: LinkDeps,
  environment: EnvironmentRow,
  requestId: string,
  cause: Cause,
): Promise<AuthRequestRow | undefined> {
  return deps.store.write(async (tx) => {
    const request = await tx.authRequests.get(environment.id, requestId);
    if (request?.state !== 'OPEN') return undefined;
    const error = (request.error as LinkError | null) ?? 'access_denied';
    await tx.authRequests.setError(environment.id, requestId, error);
    await endRequest(tx, deps, request, 'FAILED', WENT_BACK, cause);
    return { ...request, error };
  });
}
