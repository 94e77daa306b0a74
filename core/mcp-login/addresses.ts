import type { EnvironmentRow } from '../../db/store.ts';

type HasBaseUrl = Pick<EnvironmentRow, 'baseUrl'>;

/** Where clients send the browser of a user. */
export const AUTHORIZE_PATH = '/oauth/authorize';
/** Where the application sends it back to; the continuation follows. */
export const LOGIN_PATH = '/oauth/login/';
/** The page on which the user decides; its secret follows. */
export const CONSENT_PATH = '/oauth/consent/';

export function authorizationEndpoint({ baseUrl }: HasBaseUrl): string {
  return `${baseUrl}${AUTHORIZE_PATH}`;
}

export function continuationUrl({ baseUrl }: HasBaseUrl, continuation: string): string {
  return `${baseUrl}${LOGIN_PATH}${continuation}`;
}

export function consentUrl({ baseUrl }: HasBaseUrl, consent: string): string {
  return `${baseUrl}${CONSENT_PATH}${consent}`;
}

/** The page of the application at which a user logs in. */
export function loginAddress(loginUrl: string, loginRequest: string): string {
  const url = new URL(loginUrl);
  url.searchParams.append('login_request', loginRequest);
  return url.href;
}
