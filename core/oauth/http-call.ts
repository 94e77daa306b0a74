import { withoutCredentials } from '../connectors/oauth-addresses.ts';
import type { HttpCall } from '../connectors/oauth-deviations.ts';
import { atSite } from '../connectors/sites.ts';
import type { Secret } from '../secret.ts';
import { basicValue } from './basic.ts';
import { type ClientCredentials, noSecret } from './client-auth.ts';
import { OAuthConfigError } from './config-error.ts';
import { fillJson, fillText, fillTexts, type PlaceValues } from './fill.ts';
import { endpointAt, type OAuthProvider } from './provider.ts';
import type { ProtocolFetch } from './transport.ts';

/** The credentials that a call can contain. */
export interface CallCredentials {
  /** The token that the call is about. With `auth: token` it also authenticates the call. */
  token: Secret;
  accessToken?: Secret;
  refreshToken?: Secret | null;
  client?: Pick<ClientCredentials, 'clientId' | 'secret'>;
}

/**
 * Sends a call as a connector file describes it.
 *
 * @returns the response, with any status
 * @throws OAuthConfigError if a placeholder in a text has no value, a value cannot be used in the address, or the
 * client has no secret; ApiError if an account value of the address is missing or invalid; the errors of `fetch`
 */
export function sendCall(
  provider: OAuthProvider,
  call: HttpCall,
  credentials: CallCredentials,
  fetch: ProtocolFetch,
): Promise<Response> {
  const values = valuesOf(provider, credentials);
  const headers = new Headers({ accept: 'application/json' });
  const authorization = authorizationOf(provider, call, credentials);
  if (authorization !== undefined) headers.set(authorization.name, authorization.value);
  for (const [name, value] of Object.entries(fillTexts(call.headers, values))) headers.set(name, value);
  const body = bodyOf(call, values);
  if (body !== undefined) headers.set('content-type', body.type);
  return fetch(urlOf(provider, call, values), {
    method: call.method ?? 'GET',
    headers,
    redirect: 'manual',
    ...(body !== undefined && { body: body.text }),
  });
}

function valuesOf(
  { inputs }: OAuthProvider,
  { token, accessToken, refreshToken, client }: CallCredentials,
): PlaceValues {
  return {
    ...inputs,
    token,
    ...(accessToken && { access_token: accessToken }),
    ...(refreshToken && { refresh_token: refreshToken }),
    ...(client && { client_id: client.clientId }),
    ...(client?.secret && { client_secret: client.secret }),
  };
}

function authorizationOf(
  { tokenHeader, config }: OAuthProvider,
  { auth = 'token' }: HttpCall,
  { token, client }: CallCredentials,
): { name: string; value: string } | undefined {
  if (auth === 'none') return undefined;
  if (auth === 'token') {
    const { name, scheme } = tokenHeader;
    return { name, value: scheme === '' ? token.reveal() : `${scheme} ${token.reveal()}` };
  }
  if (!client?.secret) throw noSecret();
  return { name: 'authorization', value: basicValue(client.clientId, client.secret, config.token?.basic) };
}

/** Returns the address of a call, with credentials in the path segments that contain placeholders for them. */
function urlOf(provider: OAuthProvider, call: HttpCall, values: PlaceValues): URL {
  const uri = atSite(call.uri, provider.inputs);
  const harmless = withoutCredentials(uri);
  const url = endpointAt(provider, harmless, call.origin_from);
  const [template, blank] = [segmentsOf(uri), segmentsOf(harmless)];
  url.pathname = url.pathname
    .split('/')
    .map((segment, index) => (template[index] === blank[index] ? segment : pathSegment(template[index] ?? '', values)))
    .join('/');
  for (const [name, value] of Object.entries(fillTexts(call.query, values))) url.searchParams.append(name, value);
  return url;
}

function segmentsOf(template: string): string[] {
  return template
    .replace(/^https?:\/\/[^/?]+/, '')
    .replace(/\?.*$/, '')
    .split('/');
}

function pathSegment(template: string, values: PlaceValues): string {
  const value = fillText(template, values);
  if (/^\.{0,2}$/.test(value)) {
    throw new OAuthConfigError(
      `The value of the account for ${template} is empty, "." or "..", which a URL of the provider cannot contain.`,
      { faultyPart: 'account' },
    );
  }
  return encodeURIComponent(value);
}

function bodyOf(call: HttpCall, values: PlaceValues): { type: string; text: string } | undefined {
  if (Object.hasOwn(call, 'json')) {
    return { type: 'application/json', text: JSON.stringify(fillJson(call.json, values)) };
  }
  if (call.form === undefined) return undefined;
  const form = new URLSearchParams(fillTexts(call.form, values));
  return { type: 'application/x-www-form-urlencoded', text: form.toString() };
}
