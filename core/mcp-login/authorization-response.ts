import type { EnvironmentRow } from '../../db/store.ts';

/**
 * Returns the address to which the browser is redirected with an authorization response (OAuth 2.1 §4.1.2). It is the
 * redirect URI with the parameters and the state in its query. It also contains the issuer (RFC 9207), so that a
 * client of several authorization servers does not confuse their responses.
 */
export function responseAddress(
  { baseUrl }: Pick<EnvironmentRow, 'baseUrl'>,
  { redirectUri, state }: { redirectUri: string; state: string | null },
  parameters: { code: string } | { error: string; error_description?: string },
): string {
  const added = new URLSearchParams({ ...parameters, ...(state !== null && { state }), iss: baseUrl });
  const [path = '', query] = redirectUri.split('?', 2);
  return `${path}?${query ? `${query}&` : ''}${added}`;
}
