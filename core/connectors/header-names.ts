import { FRAMING_HEADERS } from '../net/framing-headers.ts';

const TOKEN = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/;

/** Headers that identify the sender of a request, or make a proxy or server treat the request as a different one. */
const IDENTITY = new Set([
  'authorization',
  'cookie',
  'cookie2',
  'forwarded',
  'set-cookie',
  'via',
  'x-client-ip',
  'x-forwarded',
  'x-http-method',
  'x-http-method-override',
  'x-method-override',
  'x-original-url',
  'x-real-ip',
  'x-rewrite-url',
]);

const IDENTITY_PREFIXES = ['proxy-', 'sec-', 'x-forwarded-'];

/** Whether a credential may be placed in a header of this name (threat E2). */
export function isCredentialHeader(name: string): boolean {
  const lower = name.toLowerCase();
  return TOKEN.test(name) && !FRAMING_HEADERS.has(lower) && lower !== 'cookie' && !lower.startsWith('proxy-');
}

/** Whether a cookie can have this name (RFC 6265 §4.1.1). */
export function isCookieName(name: string): boolean {
  return TOKEN.test(name);
}

/** Whether a tool may send a text as the value of a header: a line break would start another header (threat E2). */
export function isHeaderText(text: string): boolean {
  return /^[\t\x20-\x7e]*$/.test(text);
}

/** Whether a tool or its caller may set a header of this name. */
export function isCallerHeader(name: string): boolean {
  const lower = name.toLowerCase();
  return (
    TOKEN.test(name) &&
    !FRAMING_HEADERS.has(lower) &&
    !IDENTITY.has(lower) &&
    !IDENTITY_PREFIXES.some((prefix) => lower.startsWith(prefix))
  );
}
