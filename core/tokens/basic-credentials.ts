import { Secret } from '../secret.ts';

export interface ClientCredentials {
  clientId: string;
  clientSecret: Secret;
}

const MAX_HEADER_CHARS = 2048;
const SCHEME = /^basic +([A-Za-z0-9+/]+={0,2})$/i;
const VSCHAR = /^[\x20-\x7e]{1,512}$/;

/**
 * Reads the credentials of an `Authorization: Basic` header (RFC 7617). The client form-encodes both parts before
 * joining them (RFC 6749 §2.3.1).
 *
 * @returns `null` for another scheme and for anything malformed
 */
export function readBasicCredentials(header: string): ClientCredentials | null {
  if (header.length > MAX_HEADER_CHARS) return null;
  const encoded = SCHEME.exec(header)?.[1];
  if (encoded === undefined) return null;
  const bytes = Buffer.from(encoded, 'base64');
  if (bytes.toString('base64') !== encoded) return null;
  // Form-encoded text is ASCII. `clientCredentials` rejects texts with other bytes.
  const pair = bytes.toString('latin1');
  const colon = pair.indexOf(':');
  if (colon < 0) return null;
  return clientCredentials(formDecode(pair.slice(0, colon)), formDecode(pair.slice(colon + 1)));
}

/**
 * Returns a pair that matches the grammar of RFC 6749 (appendix A.1 and A.2) and has no empty part; otherwise `null`.
 */
export function clientCredentials(clientId: string | undefined, secret: string | undefined): ClientCredentials | null {
  if (clientId === undefined || secret === undefined || !VSCHAR.test(clientId) || !VSCHAR.test(secret)) return null;
  return { clientId, clientSecret: new Secret(secret) };
}

function formDecode(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}
