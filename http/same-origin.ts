import type { IncomingMessage } from 'node:http';
import type { Environment } from './environments.ts';

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

const LOOPBACK = /^(localhost|127\.0\.0\.1|\[::1\])$/;

/**
 * Whether a page of another site sends a request that only programs and our own pages should (threat M1). Programs send no origin. In a
 * development environment the developer's own machine is not another site: its tools run in browsers as well.
 */
export function isForeignOrigin({ headers }: IncomingMessage, environment: Environment): boolean {
  const { origin } = headers;
  if (origin === undefined) return false;
  const url = URL.parse(origin);
  if (!url || !/^https?:$/.test(url.protocol)) return true;
  if (url.origin === new URL(environment.baseUrl).origin) return false;
  return !(environment.kind === 'DEVELOPMENT' && LOOPBACK.test(url.hostname));
}
