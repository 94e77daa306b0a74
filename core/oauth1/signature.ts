import { createHmac } from 'node:crypto';
import type { Secret } from '../secret.ts';
import { encodeUnreserved } from '../tools/template.ts';
import { normalizeParameters, type Parameter } from './parameters.ts';

/** The signature methods. RFC 5849 defines HMAC-SHA1 and PLAINTEXT; HMAC-SHA256 is a common extension. */
export type SignatureMethod = 'HMAC-SHA1' | 'HMAC-SHA256' | 'PLAINTEXT';

/** The two secrets that form the signing key: the client's, and the token's if there is one. */
export interface SigningSecrets {
  client: Secret;
  token: Secret | null;
}

/**
 * Returns the text that is signed (RFC 5849 §3.4.1): method, address without its query, and every parameter of the
 * request.
 *
 * @param url as it is sent: the URL parser has converted the host to lower case and removed a default port (§3.4.1.2)
 * @param parameters of the query, of a form body and of the protocol, without `realm` and `oauth_signature`
 */
export function signatureBaseString(method: string, url: URL, parameters: readonly Parameter[]): string {
  const address = `${url.protocol}//${url.host}${url.pathname}`;
  return [method.toUpperCase(), address, normalizeParameters(parameters)].map(encodeUnreserved).join('&');
}

/**
 * Signs a base string (RFC 5849 §3.4.2); with PLAINTEXT the key itself is the signature (§3.4.4).
 *
 * @returns the value of `oauth_signature`, not yet percent-encoded
 */
export function signatureOf(method: SignatureMethod, baseString: string, { client, token }: SigningSecrets): string {
  const key = `${encodeUnreserved(client.reveal())}&${encodeUnreserved(token?.reveal() ?? '')}`;
  if (method === 'PLAINTEXT') return key;
  return createHmac(method === 'HMAC-SHA1' ? 'sha1' : 'sha256', key)
    .update(baseString)
    .digest('base64');
}
