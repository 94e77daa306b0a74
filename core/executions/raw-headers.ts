import type { PlacedPart } from '../connectors/credential.ts';
import { isCallerHeader } from '../connectors/header-names.ts';
import type { ResponseHeaders } from '../net/exchange.ts';

/** The prefix of headers by which a raw call names its account. They are not forwarded. */
const OWN_HEADERS = 'valetkey-';

/**
 * Headers about the caller's connection to Valetkey, about a browser, or about the caller's trace, which do not concern
 * the provider. If the connection's settings allow it, Valetkey sends its own `traceparent` instead.
 */
const NOT_FORWARDED = new Set([
  'accept-encoding',
  'baggage',
  'origin',
  'referer',
  'traceparent',
  'tracestate',
  'user-agent',
  'x-request-id',
]);

/**
 * Headers about the connection between the provider and Valetkey, the provider's cookies, and browser policies, which
 * would apply to Valetkey's origin.
 */
const NOT_RETURNED = new Set([
  'alt-svc',
  'clear-site-data',
  'connection',
  'content-encoding',
  'content-length',
  'content-security-policy',
  'content-security-policy-report-only',
  'keep-alive',
  'nel',
  'public-key-pins',
  'report-to',
  'reporting-endpoints',
  'service-worker-allowed',
  'set-cookie',
  'set-cookie2',
  'sourcemap',
  'strict-transport-security',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'www-authenticate',
  'x-request-id',
]);

/**
 * Returns the headers of a raw call to a provider. The caller's headers replace those of the provider's definition
 * (`usual`), and the credential replaces both. The caller's headers that identify the caller or frame the message are
 * removed (threat E2), and also those that its Connection header lists (RFC 9110 §7.6.1).
 */
export function rawRequestHeaders(
  caller: Readonly<Record<string, string>>,
  usual: Readonly<Record<string, string>>,
  credential: readonly PlacedPart[],
): Record<string, string> {
  const named = namesIn(caller['connection']);
  const forwarded = Object.entries(caller).filter(
    ([name]) => isCallerHeader(name) && !NOT_FORWARDED.has(name) && !name.startsWith(OWN_HEADERS) && !named.has(name),
  );
  const headers = Object.fromEntries([
    ...Object.entries(usual).map(([name, value]) => [name.toLowerCase(), value]),
    ...forwarded,
    // Secrets cannot be found in compressed responses.
    ['accept-encoding', 'identity'],
    ...credential.filter((part) => part.in === 'header').map(({ name, value }) => [name.toLowerCase(), value]),
  ]) as Record<string, string>;
  const cookies = credential.filter((part) => part.in === 'cookie').map(({ name, value }) => `${name}=${value}`);
  return cookies.length === 0 ? headers : { ...headers, cookie: cookies.join('; ') };
}

/** Returns the response headers for the caller, with the credential removed (threat E5). */
export function rawResponseHeaders(
  received: ResponseHeaders,
  scrub: (text: string) => string,
): Record<string, string | string[]> {
  const named = namesIn(received['connection']);
  const kept = Object.entries(received).filter(
    ([name]) =>
      !NOT_RETURNED.has(name) &&
      !named.has(name) &&
      !/^(proxy-|access-control-|cross-origin-|sec-|valetkey-|x-frame-)/.test(name),
  );
  return Object.fromEntries(
    kept.map(([name, value]) => [name, Array.isArray(value) ? value.map(scrub) : scrub(value)]),
  );
}

/**
 * Returns the headers that a Connection header names. A regular expression for the separators would need quadratic time
 * for many blanks.
 */
function namesIn(connection: string | string[] | undefined): ReadonlySet<string> {
  const names = String(connection ?? '').split(',');
  return new Set(names.map((name) => name.trim().toLowerCase()));
}
