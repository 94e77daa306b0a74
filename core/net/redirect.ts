import type { ResponseHeaders } from './exchange.ts';

/** The part of a request that a redirect changes. */
export interface Hop {
  url: URL;
  method: string;
  headers: string[];
  body: string | Buffer | null;
}

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/**
 * Returns the next request of a redirect that stays on the same origin (RFC 9110 §15.4, RFC 6454 §4). A redirect to
 * another host, port or scheme is not followed, so that no credential is sent elsewhere.
 *
 * @returns undefined if the response is not such a redirect; the caller then uses the response itself
 */
export function sameOriginRedirect(hop: Hop, status: number, headers: ResponseHeaders): Hop | undefined {
  const location = headers['location'];
  if (!REDIRECTS.has(status) || typeof location !== 'string') return undefined;
  const url = URL.parse(location, hop.url.href);
  if (url === null || url.origin !== hop.url.origin || url.username !== '' || url.password !== '') return undefined;
  const becomesGet = status === 303 ? hop.method !== 'HEAD' : status < 303 && hop.method === 'POST';
  if (!becomesGet) return { ...hop, url };
  return { url, method: 'GET', body: null, headers: withoutContent(hop.headers) };
}

/** Removes the headers that describe a body (request-body-header names of the Fetch standard). */
function withoutContent(flat: readonly string[]): string[] {
  const isContent = (name = '') => /^content-(encoding|language|location|type)$/i.test(name);
  return flat.filter((_entry, index) => !isContent(flat[index - (index % 2)]));
}
