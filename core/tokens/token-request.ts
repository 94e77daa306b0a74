import { type ClientCredentials, clientCredentials, readBasicCredentials } from './basic-credentials.ts';
import { parseScope, type Scope } from './scopes.ts';
import { invalidClient, type TokenError, tokenError } from './token-error.ts';

type Parameters = Readonly<Record<string, unknown>>;

export interface RawTokenRequest {
  authorizationHeader: string | undefined;
  /** The decoded form. A repeated parameter is an array. */
  form: Parameters;
  /** The decoded query of the URL, which must not contain any parameter of the request. */
  query?: Parameters;
}

export interface TokenRequest extends ClientCredentials {
  method: 'client_secret_basic' | 'client_secret_post';
  /** undefined to request all scopes that the client may have. */
  scope: Scope[] | undefined;
}

export type TokenRequestResult = { ok: true; request: TokenRequest } | { ok: false; error: TokenError };

const PARAMETERS = [
  'grant_type',
  'scope',
  'client_id',
  'client_secret',
  'client_assertion',
  'client_assertion_type',
] as const;
type Form = { [name in (typeof PARAMETERS)[number]]: string | undefined };

/**
 * Validates the format of a client credentials request (RFC 6749 §4.4.2), without reading the database.
 *
 * @returns the request with unverified credentials, or the error to return
 */
export function readTokenRequest({ authorizationHeader, form, query = {} }: RawTokenRequest): TokenRequestResult {
  if (PARAMETERS.some((name) => Object.hasOwn(query, name)))
    return refused('The parameters must be in the form, not in the URL');
  if (Object.values(form).some((value) => typeof value !== 'string')) {
    return refused('Each parameter must be given once, as plain text');
  }
  const values = readForm(form);
  const isByHeader = authorizationHeader !== undefined;
  if (countMethods(values, isByHeader) > 1)
    return refused('The client must use exactly one authentication method: the Authorization header or client_secret');

  const credentials = isByHeader
    ? readBasicCredentials(authorizationHeader)
    : clientCredentials(values.client_id, values.client_secret);
  if (credentials === null) return failed(invalidClient(isByHeader));
  if (values.client_id !== undefined && values.client_id !== credentials.clientId) {
    return refused('The client_id of the form differs from the one in the Authorization header');
  }

  if (values.grant_type === undefined) return refused('The parameter grant_type is missing');
  if (values.grant_type !== 'client_credentials') {
    const grants = 'client_credentials, authorization_code or refresh_token';
    return failed(tokenError('unsupported_grant_type', `The grant_type must be ${grants}`));
  }
  const scope = values.scope === undefined ? undefined : parseScope(values.scope);
  if (scope === null) {
    const description = 'The parameter scope must list scopes of the API, separated by spaces';
    return failed(tokenError('invalid_scope', description));
  }
  const method = isByHeader ? 'client_secret_basic' : 'client_secret_post';
  return { ok: true, request: { ...credentials, method, scope } };
}

/** A parameter without a value counts as absent (RFC 6749 §3.2). */
function readForm(form: Parameters): Form {
  const entries = PARAMETERS.map((name) => {
    const value = Object.hasOwn(form, name) ? form[name] : undefined;
    return [name, value === '' ? undefined : value];
  });
  return Object.fromEntries(entries) as Form;
}

/**
 * Counts the authentication methods of a request. A `client_id` alone identifies the client but does not authenticate
 * it, so it does not count.
 */
function countMethods(form: Form, isByHeader: boolean): number {
  const isByAssertion = form.client_assertion !== undefined || form.client_assertion_type !== undefined;
  return Number(isByHeader) + Number(form.client_secret !== undefined) + Number(isByAssertion);
}

function refused(description: string): TokenRequestResult {
  return failed(tokenError('invalid_request', description));
}

function failed(error: TokenError): TokenRequestResult {
  return { ok: false, error };
}
