import type { IncomingMessage } from 'node:http';
import type { Environment } from '../pipeline/environments.ts';
import { readCookie } from './cookies.ts';

/**
 * Returns the name of the cookie that identifies the browser of a flow (threat L3). With the prefix, browsers reject
 * the cookie from any other host and without TLS. The prefix cannot be used with plain http, which is only for
 * loopback.
 */
function cookieName(environment: Environment): string {
  return isSecure(environment) ? '__Host-valetkey-flow' : 'valetkey-flow';
}

function isSecure({ baseUrl }: Environment): boolean {
  return baseUrl.startsWith('https:');
}

/** Returns the secret of the browser; undefined if it has none, or sends several cookies of that name. */
export function readFlowCookie(req: IncomingMessage, environment: Environment): string | undefined {
  return readCookie(req, cookieName(environment));
}

/** Returns the value of a Set-Cookie header. `Lax`, because the callback is a navigation from the provider's site. */
export function flowCookie(environment: Environment, secret: string): string {
  const secure = isSecure(environment) ? '; Secure' : '';
  return `${cookieName(environment)}=${secret}; Path=/; HttpOnly; SameSite=Lax${secure}`;
}
