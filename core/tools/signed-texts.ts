import type { OutboundRequest } from './wire.ts';

const SCHEME = /^[A-Za-z0-9._-]+ /;
/** Matches a signature in a header, an address or a form: OAuth 1.0a (RFC 5849 §3.5), or AWS Signature Version 4. */
const SIGNATURE = /(?:oauth_|X-Amz-)?Signature="?([^"&,\s]+)/gi;

/**
 * Returns the value of the Authorization header and the signatures that signing added to a request. Anyone who has them
 * could repeat the request, so they must not appear in a response.
 *
 * @param before the request before signing
 */
export function signedTexts(before: OutboundRequest, signed: OutboundRequest): string[] {
  const { authorization } = signed.headers;
  const header = authorization === before.headers['authorization'] ? '' : (authorization ?? '');
  const address = signed.url === before.url ? '' : signed.url;
  const form = typeof signed.body !== 'string' || signed.body === before.body ? '' : signed.body;
  const signatures = [header, address, form].flatMap((text) =>
    [...text.matchAll(SIGNATURE)].map(([, value = '']) => value),
  );
  return [header.replace(SCHEME, ''), ...signatures, ...signatures.map(decoded)].filter((text) => text !== '');
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
