import type { ResponseHeaders } from './exchange.ts';

/** What changes from one hop to the next. */
export interface Hop {
  url: URL;
  method: string;
  headers: string[];
  body: string | Buffer | null;
}

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/**
 * The request that a redirect leads to, if it stays on the origin (RFC 9110 §15.4, RFC 6454 §4): a change of host, port or
 * scheme, also to plain http, is not followed, so that no credential is sent elsewhere.
 *
 * @returns undefined if the response is returned as it is
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

/** A request without a body has no headers about one (the Fetch standard's request-body-header names). */
function withoutContent(flat: readonly string[]): string[] {
  const isContent = (name = '') => /^content-(encoding|language|location|type)$/i.test(name);
  return flat.filter((_entry, index) => !isContent(flat[index - (index % 2)]));
}
