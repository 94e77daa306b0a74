import type { IncomingMessage } from 'node:http';
import type { Environment } from './environments.ts';

/**
 * Whether a form was submitted from a page of another origin. Sec-Fetch-Site takes precedence over Origin, because
 * pages that send no referrer have the origin `null`. If a browser sends no Sec-Fetch-Site, and no Origin or the origin
 * `null`, only the form's token protects the form.
 */
export function isCrossOrigin({ headers }: IncomingMessage): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site !== 'same-origin';
  const { origin } = headers;
  if (origin === undefined || origin === 'null') return false;
  return URL.parse(origin)?.host !== headers.host;
}

const LOOPBACK = /^(localhost|127\.0\.0\.1|\[::1\])$/;

/**
 * Whether a page of another origin sends a request that only programs and this server's pages should send (threat M1).
 * Programs send no origin. In a development environment, pages on the developer's own machine are accepted, because
 * some tools run in browsers.
 */
export function isForeignOrigin({ headers }: IncomingMessage, environment: Environment): boolean {
  const { origin } = headers;
  if (origin === undefined) return false;
  const url = URL.parse(origin);
  if (!url || !/^https?:$/.test(url.protocol)) return true;
  if (url.origin === new URL(environment.baseUrl).origin) return false;
  return !(environment.kind === 'DEVELOPMENT' && LOOPBACK.test(url.hostname));
}
