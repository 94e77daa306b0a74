import type { EnvironmentRow } from '../../db/store.ts';

type HasBaseUrl = Pick<EnvironmentRow, 'baseUrl'>;

/** The path to which clients redirect the browser of a user to begin a login. */
const AUTHORIZE_PATH = '/oauth/authorize';
/**
 * The path to which the application redirects the browser after it has identified the user. The secret with which the
 * login continues is appended.
 */
const LOGIN_PATH = '/oauth/login/';
/** The path to which the login provider of an environment redirects the browser after a login to an MCP server. */
export const PROVIDER_CALLBACK_PATH = '/oauth/login/callback';
/** The path to which the login provider redirects the browser after a login to the portal. */
export const PORTAL_CALLBACK_PATH = '/portal/login/callback';
/** The path of the consent page. The secret that identifies the waiting login is appended. */
const CONSENT_PATH = '/oauth/consent/';

export function authorizationEndpoint({ baseUrl }: HasBaseUrl): string {
  return `${baseUrl}${AUTHORIZE_PATH}`;
}

export function providerCallbackUrl({ baseUrl }: HasBaseUrl): string {
  return `${baseUrl}${PROVIDER_CALLBACK_PATH}`;
}

export function portalCallbackUrl({ baseUrl }: HasBaseUrl): string {
  return `${baseUrl}${PORTAL_CALLBACK_PATH}`;
}

export function continuationUrl({ baseUrl }: HasBaseUrl, continuation: string): string {
  return `${baseUrl}${LOGIN_PATH}${continuation}`;
}

export function consentUrl({ baseUrl }: HasBaseUrl, consent: string): string {
  return `${baseUrl}${CONSENT_PATH}${consent}`;
}

/** Returns the address of the application's login page, with the login request that the application must complete. */
export function loginAddress(loginUrl: string, loginRequest: string): string {
  const url = new URL(loginUrl);
  url.searchParams.append('login_request', loginRequest);
  return url.href;
}
