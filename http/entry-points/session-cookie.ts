import type { IncomingMessage } from 'node:http';
import type { Environment } from '../pipeline/environments.ts';
import { readCookie } from './cookies.ts';

/**
 * Returns the name of the cookie. With the prefix `__Host-`, browsers reject the cookie from any other host and without
 * TLS, so the prefix cannot be used with plain http.
 */
function nameOf(environment: Environment): string {
  return isSecure(environment) ? '__Host-valetkey-console' : 'valetkey-console';
}

function isSecure({ baseUrl }: Environment): boolean {
  return baseUrl.startsWith('https:');
}

/** Returns the secret of the operator's session; undefined if there is none, or several cookies have its name. */
export function readSessionCookie(req: IncomingMessage, environment: Environment): string | undefined {
  return readCookie(req, nameOf(environment));
}

/** Returns the value of a Set-Cookie header. `Strict`: no request that another site causes carries the session. */
export function sessionCookie(environment: Environment, secret: string, maxAgeSeconds: number): string {
  const secure = isSecure(environment) ? '; Secure' : '';
  return `${nameOf(environment)}=${secret}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Strict${secure}`;
}

/** Returns the value of a Set-Cookie header that removes the cookie. */
export function noSessionCookie(environment: Environment): string {
  return sessionCookie(environment, '', 0);
}
