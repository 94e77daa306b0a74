import type { EnvironmentRow } from '../../../db/store.ts';
import type { OpenedLink } from './open-link.ts';
import { errorDescription, type LinkError } from './return-address.ts';

/**
 * How a link ended, as it is reported to the application that opened the link in a popup. `error` and
 * `error_description` have the values that `user_verify_url` receives.
 */
export type LinkOutcome =
  | { outcome: 'completed'; auth_request_id: string; state?: string }
  | { outcome: 'completed'; verified: true; state?: string }
  | { outcome: 'denied' | 'failed' | 'expired'; error: LinkError; error_description: string; state?: string };

/** The state of a link that has not ended. `waiting`: a user has finished it and is not verified yet. */
export interface LinkProgress {
  outcome: 'pending' | 'waiting';
}

/** Returns the outcome of a link that ended without an account. */
export function unsuccessful(error: LinkError): LinkOutcome {
  const outcome = error === 'access_denied' ? 'denied' : error === 'expired_token' ? 'expired' : 'failed';
  return { outcome, error, error_description: errorDescription(error) };
}

/**
 * Returns the outcome of a link for a caller that knows the link but may be in another browser than the user. So the
 * outcome never contains the `auth_request_id`, which the verification needs (threat L21).
 */
export function publicOutcome(opened: OpenedLink): LinkOutcome | LinkProgress {
  switch (opened.kind) {
    case 'open':
      return { outcome: 'pending' };
    case 'waiting':
      return { outcome: 'waiting' };
    case 'used':
      return { outcome: 'completed', verified: true };
    case 'ended':
      return unsuccessful((opened.request.error as LinkError | null) ?? 'server_error');
    case 'expired':
    case 'unknown':
      return unsuccessful('expired_token');
  }
}

/**
 * Returns the origins of the environment's `user_verify_urls`. Only pages of these origins may learn the outcome of a
 * link in a browser.
 */
export function applicationOrigins({ settings }: Pick<EnvironmentRow, 'settings'>): string[] {
  return [...new Set((settings.userVerifyUrls ?? []).flatMap((url) => URL.parse(url)?.origin ?? []))];
}
