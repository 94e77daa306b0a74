import type { IncomingMessage } from 'node:http';

/**
 * Whether a browser sent a form from a page of its own host. What a browser says wins over what it leaves out: pages that send no
 * referrer have their origin masked, and old browsers tell less. The form's own token decides then.
 */
export function isFromElsewhere({ headers }: IncomingMessage): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site !== 'same-origin';
  const { origin } = headers;
  if (origin === undefined || origin === 'null') return false;
  return URL.parse(origin)?.host !== headers.host;
}
