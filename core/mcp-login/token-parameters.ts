import { Secret } from '../secret.ts';
import { readBasicCredentials } from '../tokens/basic-credentials.ts';
import { invalidClient, type TokenError, tokenError } from '../tokens/token-error.ts';

/** The client credentials of a request, not verified yet. */
export interface PresentedClient {
  clientId: string;
  /** undefined if the request contains no secret, as for a public client. */
  secret: Secret | undefined;
  /** Whether the client authenticates by the Authorization header. */
  byHeader: boolean;
}

export type ReadForm<T> = { ok: true; value: T } | { ok: false; error: TokenError };

/** The parameters of a form, each at most once. A parameter without a value counts as absent (RFC 6749 §3.2). */
export type Form = Readonly<Record<string, string | undefined>>;

export function readForm(form: Readonly<Record<string, unknown>>): ReadForm<Form> {
  const entries = Object.entries(form);
  const twice = entries.find(([, value]) => typeof value !== 'string');
  if (twice) {
    const which = /^[\w.-]{1,40}$/.test(twice[0]) ? `The parameter ${twice[0]}` : 'Each parameter';
    return failed(tokenError('invalid_request', `${which} must be given only once, as a string`));
  }
  return { ok: true, value: Object.fromEntries(entries.filter(([, value]) => value !== '')) as Form };
}

/**
 * Reads the credentials of a client (RFC 6749 §2.3). A public client sends only `client_id`. Requests with a client
 * assertion or with two authentication methods are rejected.
 */
export function readClient(authorizationHeader: string | undefined, form: Form): ReadForm<PresentedClient> {
  const { client_id: clientId, client_secret: secret } = form;
  if (form['client_assertion'] !== undefined || form['client_assertion_type'] !== undefined)
    return failed(invalidClient(false));
  if (authorizationHeader === undefined) {
    if (clientId === undefined) return failed(tokenError('invalid_request', 'The parameter client_id is missing'));
    return {
      ok: true,
      value: { clientId, secret: secret === undefined ? undefined : new Secret(secret), byHeader: false },
    };
  }
  if (secret !== undefined)
    return failed(
      tokenError('invalid_request', 'The client must not send both client_secret and the Authorization header'),
    );
  const credentials = readBasicCredentials(authorizationHeader);
  if (!credentials) return failed(invalidClient(true));
  if (clientId !== undefined && clientId !== credentials.clientId)
    return failed(tokenError('invalid_request', 'The client_id differs from the one in the Authorization header'));
  return { ok: true, value: { clientId: credentials.clientId, secret: credentials.clientSecret, byHeader: true } };
}

export function failed(error: TokenError): { ok: false; error: TokenError } {
  return { ok: false, error };
}
